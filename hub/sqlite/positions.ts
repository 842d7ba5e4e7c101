import type { StoredMessage } from '../storage.ts';
import { batchesAfter, messagesOf } from './batches.ts';
import { isRot } from './rot.ts';
import type { Prepare } from './statements.ts';

/** What messages are found by: the mailbox they went to, their task, their sender, a name they were for without a mailbox, their type. */
export type Kind = 'box' | 'task' | 'sender' | 'to' | 'type';

/** Rows of the index read at once. */
const PAGE = 8;

/**
 * A row of `position`: the messages of one key in one chunk of the log. `at` is a JSON array: for each message how far it
 * lies behind the chunk's first position, and for a mailbox beside it its bytes.
 */
export interface PositionRow {
  readonly chunk: number;
  readonly at: string;
}

/** One message of a key. */
export interface Entry {
  readonly lsn: number;
  /** Where its chunk begins. */
  readonly chunk: number;
  /** Size of the frame; told for mailboxes only. */
  readonly bytes: number;
}

/** Whether all messages of an agent of this name are in the index: those for everybody, for a role and for the hub are not. */
export function isName(to: string): boolean {
  return to !== '*' && to !== 'hub' && !to.includes(':');
}

/** The messages of a row, in log order. */
function entriesOf(kind: Kind, { chunk, at }: PositionRow): Entry[] {
  const values = JSON.parse(at) as number[];
  if (kind !== 'box') return values.map((offset) => ({ lsn: chunk + offset, chunk, bytes: 0 }));
  const entries: Entry[] = [];
  for (let index = 0; index < values.length; index += 2) {
    entries.push({ lsn: chunk + (values[index] as number), chunk, bytes: values[index + 1] as number });
  }
  return entries;
}

/** The entries of a row of the index; where its text is damaged they are found in the log itself. */
export function entriesIn(prepare: Prepare, kind: Kind, key: string, row: PositionRow): Entry[] {
  try {
    return entriesOf(kind, row);
  } catch (error) {
    if (!isRot(error)) throw error;
  }
  const { chunk } = row;
  const { last } = (prepare('SELECT last FROM chunk WHERE first = ?').get(chunk) ?? { last: 0 }) as { last: number };
  const entries: Entry[] = [];
  for (const batch of batchesAfter(prepare, chunk - 1)) {
    if (batch.first > last) break;
    for (const message of messagesOf(batch, chunk - 1, last)) {
      if (has(message, kind, key)) entries.push({ lsn: message.lsn, chunk, bytes: message.body.length });
    }
  }
  return entries;
}

/** Whether the index knows a message by this key. */
function has({ box, taskId, from, to, type }: StoredMessage, kind: Kind, key: string): boolean {
  if (kind === 'to') return to === key && to !== box;
  return key === { box, task: taskId, sender: from, type }[kind];
}

/** The ids of a chunk's messages, in log order; empty where a message was missing already. */
export function idsOf(prepare: Prepare, chunk: number): string[] {
  const row = prepare('SELECT ids FROM chunk_ids WHERE chunk = ?').get(chunk) as { ids: string } | undefined;
  try {
    return row === undefined ? [] : (JSON.parse(row.ids) as string[]);
  } catch {
    return [];
  }
}

/** Position up to which everything is in the index. */
export function indexedUpTo(prepare: Prepare): number {
  const row = prepare('SELECT last FROM chunk ORDER BY first DESC LIMIT 1').get();
  return (row as { last: number } | undefined)?.last ?? 0;
}

/** First version of the schema whose index knows types. */
const TYPES_SINCE = 5;

/** Whether the whole index finds messages by their type: that of an earlier version does not, until a hub has taken it up. */
export function knowsTypes(prepare: Prepare): boolean {
  const { version } = prepare('SELECT user_version AS version FROM pragma_user_version').get() as { version: number };
  return version >= TYPES_SINCE && prepare('SELECT 1 FROM chunk WHERE typed = 0 LIMIT 1').get() === undefined;
}

/** Messages of a key after a position, as far as the index goes, in log order. */
export function* forwards(prepare: Prepare, kind: Kind, key: string, afterLsn: number): Generator<Entry> {
  const around = prepare(
    'SELECT chunk, at FROM position WHERE kind = ? AND key = ? AND chunk <= ? ORDER BY chunk DESC LIMIT 1',
  ).get(kind, key, afterLsn) as PositionRow | undefined;
  if (around !== undefined) {
    for (const entry of entriesIn(prepare, kind, key, around)) if (entry.lsn > afterLsn) yield entry;
  }
  const next = prepare(
    'SELECT chunk, at FROM position WHERE kind = ? AND key = ? AND chunk > ? ORDER BY chunk LIMIT ?',
  );
  let rows: PositionRow[];
  let chunk = afterLsn;
  do {
    rows = next.all(kind, key, chunk, PAGE) as unknown as PositionRow[];
    for (const row of rows) {
      chunk = row.chunk;
      yield* entriesIn(prepare, kind, key, row);
    }
  } while (rows.length === PAGE);
}

/** Messages of a key before a position, the newest first. */
export function* backwards(prepare: Prepare, kind: Kind, key: string, beforeLsn: number): Generator<Entry> {
  const before = prepare(
    'SELECT chunk, at FROM position WHERE kind = ? AND key = ? AND chunk < ? ORDER BY chunk DESC LIMIT ?',
  );
  let rows: PositionRow[];
  let chunk = beforeLsn;
  do {
    rows = before.all(kind, key, chunk, PAGE) as unknown as PositionRow[];
    for (const row of rows) {
      chunk = row.chunk;
      for (const entry of entriesIn(prepare, kind, key, row).reverse()) if (entry.lsn < beforeLsn) yield entry;
    }
  } while (rows.length === PAGE);
}

/** The entries of several keys in one order, each message once. */
export function* merged(sources: readonly Generator<Entry>[], newestFirst = false): Generator<Entry> {
  let last: number | undefined;
  for (const entry of mergedAll(sources, newestFirst)) {
    if (entry.lsn !== last) yield entry;
    last = entry.lsn;
  }
}

function* mergedAll(sources: readonly Generator<Entry>[], newestFirst: boolean): Generator<Entry> {
  const sign = newestFirst ? -1 : 1;
  const heads = sources.map((source) => ({ source, next: source.next() })).filter(({ next }) => !next.done);
  while (heads.length > 0) {
    let best = 0;
    for (let index = 1; index < heads.length; index += 1) {
      if (sign * (positionAt(heads[index]) - positionAt(heads[best])) < 0) best = index;
    }
    const head = heads[best] as (typeof heads)[number];
    yield head.next.value as Entry;
    head.next = head.source.next();
    if (head.next.done) heads.splice(best, 1);
  }
}

function positionAt(head: { readonly next: IteratorResult<Entry> } | undefined): number {
  return (head?.next.value as Entry | undefined)?.lsn ?? 0;
}

/** The entries that two sources have in common; both must have the order that is said. */
export function* inBoth(one: Generator<Entry>, other: Generator<Entry>, newestFirst = false): Generator<Entry> {
  const sign = newestFirst ? -1 : 1;
  let next = other.next();
  for (const entry of one) {
    while (!next.done && sign * (next.value.lsn - entry.lsn) < 0) next = other.next();
    if (next.done) return;
    if (next.value.lsn === entry.lsn) yield entry;
  }
}

/** How many messages of a mailbox lie behind a position, as far as the index goes, their bytes, and the last one. */
export function sumOf(prepare: Prepare, box: string, afterLsn: number): { depth: number; bytes: number; last: number } {
  const whole = prepare(
    `SELECT coalesce(sum(count), 0) AS depth, coalesce(sum(bytes), 0) AS bytes, coalesce(max(last), 0) AS last
     FROM position WHERE kind = 'box' AND key = ? AND chunk > ?`,
  ).get(box, afterLsn) as { depth: number; bytes: number; last: number };
  const sum = { ...whole };
  const around = prepare(
    "SELECT chunk, at FROM position WHERE kind = 'box' AND key = ? AND chunk <= ? ORDER BY chunk DESC LIMIT 1",
  ).get(box, afterLsn) as PositionRow | undefined;
  if (around === undefined) return sum;
  for (const { lsn, bytes } of entriesIn(prepare, 'box', box, around)) {
    if (lsn <= afterLsn) continue;
    sum.depth += 1;
    sum.bytes += bytes;
    sum.last = Math.max(sum.last, lsn);
  }
  return sum;
}

/** Keys of tasks that are `taskId` or continue it after a dot; undefined when they are more than `most`. */
export function treeKeys(prepare: Prepare, taskId: string, most: number): string[] | undefined {
  const next = prepare("SELECT key FROM position WHERE kind = 'task' AND key > ? AND key < ? ORDER BY key LIMIT 1");
  const keys = [taskId];
  let key: string | undefined = `${taskId}.`;
  while (key !== undefined) {
    key = (next.get(key, `${taskId}/`) as { key: string } | undefined)?.key;
    if (key !== undefined) keys.push(key);
    if (keys.length > most) return undefined;
  }
  return keys;
}
