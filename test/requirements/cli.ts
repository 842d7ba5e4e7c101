/** What the command line, its settings and its processes promise. */
export const cli = {
  'R-CLI-1': 'A setting comes from its flag, else its variable, else the file, else its default; a wrong one is named.',
  'R-CLI-2':
    'Children get an allow-listed environment: no token, no key, no value of several lines, no URL with a login.',
  'R-CLI-3':
    'Wrong usage ends with exit 2 and one line; our own fault with exit 1, one line and the details in a file.',
  'R-CLI-4':
    'The supervisor hands signals on from its first moment, and starts a run again, at most twice, that died by a signal nobody sent.',
  'R-CLI-5': 'Agents are processes of their own that get their secrets through stdin and leave nothing behind.',
  'R-CLI-6': 'The log, the tasks and the agents of a run can be read from its folder, from its hub and from a file.',
  'R-CLI-7': 'Without a source the newest run is read.',
  'R-CLI-8': 'A log is shown for people on one line a frame, without what could steer a terminal, and as JSON lines.',
  'R-CLI-9': 'The task table lines up also with Chinese text.',
  'R-CLI-10': 'npc-crew hub serves on the address it prints until it gets a signal; a port in use is wrong usage.',
  'R-CLI-11':
    'A role agent, also another program behind --exec, can be started by hand and does the tasks of its role.',
  'R-CLI-12':
    'npc-crew run works in any git work tree and leaves a branch, a report and an exit code that says the truth.',
  'R-CLI-13': 'A run says something at least every 60 s, and shows its tasks.',
  'R-CLI-14':
    'npc-crew finish completes a comment that a dead run left open, after a run that is about to end; else it does nothing.',
  'R-CLI-15': 'The demo shows a mention becoming a pull request, without a key.',
  'R-CLI-16': 'The templates start our image on both events, one run a thread, and always finish.',
  'R-CLI-17': 'A build takes the place of the one before only when it is finished.',
  'R-CLI-18':
    'A log file that was torn at its end is shown up to there and the tail named; garbage elsewhere is an error.',
  'R-CLI-19': 'log takes the newest N, what is newer than a time, and several tasks, agents and types, all together.',
  'R-CLI-20': 'log --follow goes on live from a folder and from a hub, over a restart of the hub, and ends in order.',
  'R-CLI-21':
    'log --story tells one task as a tree: attempts, waits, sizes, latencies, questions, stale results, sub-tasks.',
  'R-CLI-22': 'log --export writes a masked log in one piece, and says how many places were masked.',
  'R-CLI-23':
    'log --replay shows the messages of a file with their times on a fresh hub, wakes nobody with them, and takes no others.',
  'R-CLI-24':
    'tasks shows one task, those of a state, and those that are stuck with why, for how long, and what to do.',
  'R-CLI-25': 'dead lists and drops what was never handed over, and never writes beside a hub that is at work.',
  'R-CLI-26': 'watch shows agents, tasks and the newest messages of a hub live, to any number of people.',
  'R-CLI-40':
    'Every limit and clock of the hub is a flag with unit, preset and range; a wrong value is told with them.',
  'R-CLI-41': 'The token of a hub lies in a file that its owner alone can read; another one is refused with the cure.',
  'R-CLI-43':
    'What takes longer than a second is told at a terminal; looking for a type or a name does not, in a long log.',
  'R-CLI-44': 'Of more tasks than one answer of the hub holds all are told.',
  'R-CLI-42':
    'A hub that asks for its token keeps it over a restart; commands and agents take it from file or variable.',
  'R-CLI-45':
    'Fallback models and endpoints, proxies and the pace of a model are settings, each with its own variable.',
  'R-CLI-46':
    'A build without a key uses the platform’s models; a key, another address or NPC_PLATFORM_MODELS=off wins.',
  'R-CLI-47': 'doctor model tells what the configured models can do, and steers the runs of the same user.',
  'R-CLI-48': 'A person gives, cancels and answers tasks by hand.',
  'R-CLI-55': 'The report of a run reads what belongs to the run alone, however large the log is.',
} as const;
