import { defaultLimits } from '../../hub/options.ts';
import type { StoredMessage } from '../../hub/storage.ts';
import type { GotFrame, Life, SentFrame } from './record.ts';
import { nameOf, type Remains } from './remains.ts';

/** What became of the messages. */
export interface MessageFindings {
  /** Rows of the log. */
  readonly logged: number;
  /** Frames that an agent was told to be accepted. */
  readonly accepted: number;
  /** Messages in mailboxes: handled by their agent, still waiting, dead letters. */
  readonly delivered: number;
  readonly waiting: number;
  readonly dead: number;
  /** Messages for the level-0 peer: told to it, and not told and dead. */
  readonly plainTold: number;
  readonly plainDead: number;
  /** Handled again by a later client, since the one before did not live to acknowledge them. */
  readonly again: number;
}

/** Messages under way to one client without acknowledgement; as many may come again when it is killed. */
const WINDOW = defaultLimits.maxInflight;

/** Nothing accepted is missing, nothing came twice to one client, and what one sent another came in order. */
export function checkMessages(remains: Remains, faults: string[]): MessageFindings {
  const { messages, lives } = remains;
  const byKey = new Map<string, StoredMessage>();
  let last = 0;
  for (const message of messages) {
    const key = `${message.from} ${message.id}`;
    if (byKey.has(key)) faults.push(`${key} is in the log twice: ${byKey.get(key)?.lsn} and ${message.lsn}`);
    byKey.set(key, message);
    if (message.lsn <= last) faults.push(`the log goes back at ${message.lsn}`);
    last = message.lsn;
  }
  let accepted = 0;
  let again = 0;
  for (const [name, own] of lives) {
    accepted += checkAccepted(name, own, byKey, faults);
    again += checkHandled(name, own, byKey, faults);
    checkWatched(own, faults);
  }
  return {
    logged: messages.length,
    accepted,
    again,
    ...checkMailboxes(remains, faults),
    ...checkPlain(remains, faults),
  };
}

/** What was accepted is in the log, as it was sent. */
function checkAccepted(
  name: string,
  lives: readonly Life[],
  byKey: ReadonlyMap<string, StoredMessage>,
  faults: string[],
): number {
  let count = 0;
  for (const life of lives) {
    const sent = new Map<string, SentFrame>();
    for (const entry of life.entries) {
      if (entry.e === 'sends') sent.set(entry.frame.id, entry.frame);
      if (entry.e === 'refused') checkRefusal(life, entry.code, sent.get(entry.id), faults);
      if (entry.e !== 'accepted') continue;
      const frame = sent.get(entry.id);
      const message = byKey.get(`${name} ${entry.id}`);
      if (frame === undefined || !isLogged(frame)) continue;
      count += 1;
      if (message === undefined)
        faults.push(`${nameOf(life)}: ${frame.type} ${entry.id} was accepted and is not in the log`);
      else if (!sameAs(frame, message))
        faults.push(`${nameOf(life)}: ${frame.type} ${entry.id} is logged as something else`);
    }
  }
  return count;
}

function isLogged({ type }: SentFrame): boolean {
  return type !== 'watch';
}

/** Between an owner and who works for it, the hub puts in the name of the other. */
const rerouted = /^task\.(accept|decline|progress|input|result|release|answer|cancel)$/;

function sameAs(frame: SentFrame, message: StoredMessage): boolean {
  const { payload, ref } = JSON.parse(message.body.toString()) as { payload: unknown; ref?: string };
  const isNumbered = frame.type === 'task.answer' || frame.type === 'task.cancel';
  return (
    message.type === frame.type &&
    message.taskId === frame.task_id &&
    (message.to === frame.to || rerouted.test(frame.type)) &&
    (message.attempt === (frame.attempt ?? null) || isNumbered) &&
    ref === frame.ref &&
    JSON.stringify(payload) === JSON.stringify(frame.payload)
  );
}

/** Codes that say what happened to a task or a recipient; anything else is a fault of ours. */
const fair: ReadonlySet<string> = new Set([
  'bad_state',
  'stale_attempt',
  'lease_lost',
  'no_such_task',
  'no_worker',
  'offline',
  'disconnected',
  'refused',
]);

function checkRefusal(life: Life, code: string, frame: SentFrame | undefined, faults: string[]): void {
  // Nobody is known who was never here: at the very start not all are.
  if (fair.has(code) || (code === 'no_such_agent' && frame?.type === 'route')) return;
  faults.push(`${nameOf(life)}: ${frame?.type} was refused with ${code}`);
}

/** No client got a message twice, nor out of order; a later client gets again at most what the one before had not acknowledged. */
function checkHandled(
  name: string,
  lives: readonly Life[],
  byKey: ReadonlyMap<string, StoredMessage>,
  faults: string[],
): number {
  let again = 0;
  let before: readonly GotFrame[] = [];
  const everHandled = new Set<string>();
  const newestFrom = new Map<string, number>();
  for (const life of lives) {
    const handled = new Map<string, GotFrame>();
    let seq = 0;
    const numbered = life.entries.flatMap((entry) =>
      entry.e === 'got' && entry.frame.seq !== undefined ? [entry.frame] : [],
    );
    for (const frame of numbered) {
      const key = `${frame.from} ${frame.id}`;
      if (handled.has(key))
        faults.push(`${nameOf(life)} got ${frame.type} ${key} twice: ${handled.get(key)?.seq}, ${frame.seq}`);
      handled.set(key, frame);
      if ((frame.seq ?? 0) <= seq) faults.push(`${nameOf(life)} got ${frame.seq} after ${seq}`);
      seq = frame.seq ?? seq;
      const message = byKey.get(key);
      if (message?.box !== name || message.lsn !== frame.lsn) {
        faults.push(`${nameOf(life)} got ${frame.type} ${key}, which is not in its mailbox at ${frame.lsn}`);
      }
      if (!everHandled.has(key)) {
        if ((newestFrom.get(frame.from) ?? 0) > seq)
          faults.push(`${nameOf(life)} got ${key} of ${frame.from} out of order`);
        newestFrom.set(frame.from, seq);
      }
      if (!everHandled.has(key)) continue;
      again += 1;
      if (!before.slice(-WINDOW).some((earlier) => `${earlier.from} ${earlier.id}` === key)) {
        faults.push(`${nameOf(life)} got ${frame.type} ${key} again, long after it had been handled`);
      }
    }
    for (const key of handled.keys()) everHandled.add(key);
    if (numbered.length > 0) before = numbered;
  }
  return again;
}

/** A watcher sees each message at most once and in order. */
function checkWatched(lives: readonly Life[], faults: string[]): void {
  for (const life of lives) {
    let last = 0;
    for (const entry of life.entries) {
      if (entry.e !== 'saw') continue;
      if (entry.lsn <= last) faults.push(`${nameOf(life)} was shown ${entry.lsn} after ${last}`);
      last = entry.lsn;
    }
  }
}

/** Whatever is in an agent's mailbox was handled by it, waits behind its cursor, or is a dead letter. */
function checkMailboxes({ messages, lives, sessions, dead }: Remains, faults: string[]) {
  const handled = new Map(
    [...lives].map(([name, own]) => [
      name,
      new Set(own.flatMap(({ entries }) => entries.flatMap((entry) => (entry.e === 'got' ? [entry.frame.lsn] : [])))),
    ]),
  );
  const letters = new Set(dead.map(({ lsn }) => lsn));
  let delivered = 0;
  let waiting = 0;
  for (const { lsn, box, type, from, id } of messages) {
    const own = box === null ? undefined : handled.get(box);
    if (box === null || own === undefined) continue;
    if (own.has(lsn)) delivered += 1;
    else if (letters.has(lsn)) continue;
    else if (lsn > (sessions.get(box)?.acked ?? 0)) waiting += 1;
    else faults.push(`lost: ${type} ${id} from ${from} at ${lsn} is acknowledged by ${box}, which never got it`);
  }
  return { delivered, waiting, dead: letters.size };
}

/** What was for the level-0 peer was told to it, once and in order, or is a dead letter. */
function checkPlain({ messages, dead, plain }: Remains, faults: string[]) {
  const told = new Set(plain.told);
  if (told.size < plain.told.length) faults.push(`${plain.name} was told something twice`);
  if (plain.told.some((lsn, index) => lsn < (plain.told[index - 1] ?? 0)))
    faults.push(`${plain.name} was told out of order`);
  const letters = new Set(dead.map(({ lsn }) => lsn));
  let plainDead = 0;
  for (const { lsn, box, id, from } of messages) {
    if (box !== plain.name || told.has(lsn)) continue;
    if (letters.has(lsn)) plainDead += 1;
    else faults.push(`lost: ${id} from ${from} at ${lsn} was neither told to ${plain.name} nor is it a dead letter`);
  }
  return { plainTold: told.size, plainDead };
}
