/** What the hub must do; each test names the one it shows. */
export const hub = {
  'R-HUB-1': 'wscat without hello can ping, look around, and send a route that another one receives (level 0).',
  'R-HUB-2':
    'hello is answered with welcome; messages are accepted once they are durable, delivered in order and acknowledged.',
  'R-HUB-3': 'A bad frame is answered with an error or a clean close; it never ends the process nor disturbs others.',
  'R-HUB-4': 'Host, Origin, token and name are checked before the upgrade, in this order.',
  'R-HUB-5': 'A sender is who its connection is: from is overwritten, names and mailboxes cannot be taken.',
  'R-HUB-6': 'Unknown and absent targets are told to the sender at once.',
  'R-HUB-7': 'A session resumes where it stood, or is told of the gap.',
  'R-HUB-8': 'Tasks go through the state machine; the owner is told of every change it did not cause.',
  'R-HUB-9': 'Only the live attempt changes a task: stale results are logged, told and never applied.',
  'R-HUB-10':
    'Silent, slow and lost attempts are retried at most twice, by another agent of the role when the first is gone.',
  'R-HUB-11': 'At most two root tasks are at work at once; a task with a parent uses its slot.',
  'R-HUB-12': 'A half-open connection is found by ping and ended.',
  'R-HUB-13': 'Everything is on disk before it is delivered, and is there after a restart.',
  'R-HUB-14': 'A damaged database is set aside and reported, never overwritten.',
  'R-HUB-15': 'Limits hold: frame size, inflight, mailbox, rate, buffers, hello deadline, depth, bad frames.',
  'R-HUB-16': 'The log can be read over the hub and from its file, by task, tree and type, page by page.',
  'R-HUB-17': 'Level-0 and level-1 peers work on the same task; the hub translates.',
  'R-HUB-70': 'By HTTP the hub says that it lives, and whether it serves and why not.',
  'R-HUB-71': 'A wrong path, method or parameter is told by its name in JSON; answers are not kept, HEAD works.',
  'R-HUB-72':
    'By HTTP the same Host, Origin and token rules hold as for agents; to look needs `watch`, to change `admin`.',
  'R-HUB-73': 'The log is streamed as JSON Lines; a reader that stops costs no memory, one that goes ends the work.',
  'R-HUB-74': 'Agents are told with what waits for them, tasks with why they are stuck.',
  'R-HUB-81': 'Dead letters are listed and dropped by HTTP.',
  'R-HUB-82': 'The page about the protocol has every limit and clock with its preset.',
  'R-HUB-77':
    'Host, Origin and what browsers say of a request are judged whole: no rebound name, no foreign page gets in.',
  'R-HUB-78': 'Nobody speaks in the name of another, removes what waits for it, or reads it without the scope.',
  'R-HUB-79':
    'Upgrades under names of one kind have a pace; who comes too early, or to a full hub, is told when to come back.',
  'R-HUB-80': 'Every limit holds on real sockets, by count and by bytes, and is the one that was set.',
  'R-HUB-76': 'What the hub does is counted and told in the format of Prometheus, with few labels.',
  'R-HUB-75': 'A task has a timeline: offers, attempts, waits, how each ended, and its frames in short.',
  'R-HUB-50': 'What a turn has to say to a socket is one write, of frames that any WebSocket client reads.',
  'R-HUB-51': 'The short way to read a frame takes and refuses what the schema does.',
  'R-HUB-52': 'The last 4,096 ids of each sender are known, after a restart too.',
  'R-HUB-53': 'What waits for readers is bounded in memory, for all of them together.',
  'R-HUB-55':
    'What waited too long for somebody who is away is a dead letter; its sender is told, and what follows is delivered.',
  'R-HUB-56': 'What a level-0 peer that is gone had not been told is a dead letter.',
  'R-HUB-57': 'A name has one mailbox, at whatever level it is spoken for.',
  'R-HUB-59': 'Tasks that are over are read from the store when asked for; their ids stay taken.',
  'R-HUB-60':
    'Whatever was lost on the way, a resume delivers each message once, names one holder, and tells of what is missing.',
  'R-HUB-61': 'A mailbox takes exactly as many messages as it may.',
  'R-HUB-62':
    'The clocks of a task count to the millisecond, whatever the wall clock does; who fell silent is asked last.',
  'R-HUB-63': 'Questions, answers and statuses outlive a restart of the hub: each once, and in order.',
  'R-HUB-64': 'Every change of a task is one transaction with what is said of it and what follows from it.',
  'R-HUB-65': 'A repeat of the accepted result is named a duplicate, however late.',
  'R-HUB-66': 'The state machine of a task has the transitions of the protocol and no others.',
  'R-HUB-67': 'Long work that lives is never thrown away; a stopped or mute worker process is found in time.',
  'R-HUB-68': 'A client that goes by the rules of docs/protocol.md has each message once and in order.',
  'R-HUB-69':
    'Tasks that wait cost little: no look at the others when one comes or goes, a bounded memory, a bounded number.',
  'R-HUB-58': 'Names that were away for long are forgotten, and told so when they come back.',
  'R-HUB-88':
    'The bench relays every frame through every relay it compares, in processes and folders that are gone afterwards.',
  'R-HUB-89':
    'The bench compares figures of the same repetition, judges their medians, and keeps what people wrote on its page.',
  'R-HUB-85':
    'Whatever is killed, stopped or cut, at whatever place in the log: what was accepted is delivered, waiting or a dead letter, nothing reaches a client twice, every task is over or at work, and no stale result is applied.',
  'R-HUB-40': 'A store passes the conformance suite, whatever it is made of.',
  'R-HUB-41':
    'The log lies in batches that SQL can read through a view, frames byte for byte; its index is written later.',
  'R-HUB-42':
    'Logs of every earlier version are read as they are, and brought to the new form in pieces that survive a crash.',
  'R-HUB-43':
    'Of a torn write-ahead log every commit before the tear is kept; a database damaged otherwise is set aside.',
  'R-HUB-44': 'A full disk leaves nothing half, and like a folder that cannot be used it is told in words.',
  'R-HUB-45':
    'Long reads leave the thread of the hub free; the thread that does them is replaced when it dies, and ends when it has nothing to do.',
  'R-HUB-46': 'The write-ahead log stays bounded under load that never stops, and commits go on whoever reads.',
  'R-HUB-47': 'Old messages can be deleted; what waits, is a dead letter, or belongs to an open task stays.',
  'R-HUB-86': 'The check of the chaos test finds what it looks for: what is lost, doubled, out of order or misapplied.',
  'R-HUB-87':
    'No frame and no request, however spoiled, ends the hub, leaks a handle or leaves another row than the one it was told to be taken for.',
  'R-HUB-100': 'Who comes back is told which tasks it still holds, so that none of them lies idle.',
  'R-HUB-101': 'A target that cannot be a name is told what a name may be.',
  'R-HUB-102':
    'Who only came to look leaves nothing behind at its goodbye; whoever plays a role or sent or got a message keeps its mailbox.',
  'R-HUB-103': 'A name whose holder gives no sign of life goes to who asks for it; a holder that lives keeps it.',
  'R-HUB-104': 'A session keeps its name from level 0 while it is there, may come back, or has work or mail.',
  'R-HUB-105':
    'Whether a client misses something is told right when the log is an older copy of itself, or was trimmed.',
  'R-HUB-106': 'A question whose owner is gone holds no slot, and loses nothing.',
  'R-HUB-108': 'No stranger fills a mailbox beyond its limit, by messages or by tasks; each task still tells its end.',
  'R-HUB-109': 'Who said hello is told nothing before welcome.',
  'R-HUB-110': 'Whoever sends what cannot be read is told which field it is, what belongs there, and what came.',
  'R-HUB-111': 'A clock of any length runs out at its time, and not before.',
  'R-HUB-107': 'Each start and orderly end of a hub is in its log.',
  'R-HUB-116':
    'What cannot be read any more of a log is set aside and told in its place; all else is read, and mailboxes go on behind it.',
  'R-HUB-117': 'No look at what was said of one task costs more than a few megabytes, however long its words are.',
  'R-HUB-118': 'A task whose request cannot be read any more ends as failed, and is told to no worker.',
  'R-HUB-119': 'A list of tasks is bounded at both levels and keeps nobody waiting; all tasks are read in pages.',
} as const;
