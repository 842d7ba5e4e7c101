import type { LogRow, StoredMessage } from '../storage.ts';
import type { Prepare } from './statements.ts';
import type { Unindexed } from './unindexed.ts';

/** What messages are found by: the mailbox they went to, their task, their sender, and a name they were for without a mailbox. */
export type Kind = 'box' | 'task' | 'sender' | 'to';

/**
 * Messages, bytes and keys that are indexed together: what one commit may have to write besides its own. A key costs most,
 * since it has a page of its own in a large index.
 */
export const CHUNK = { messages: 512, bytes: 1024 * 1024, keys: 192 };

/** Keys that one message may have. */
const KEYS_EACH = 4;

/** Rows of the index read at once. */
const PAGE = 8;

/**
 * A row of `position`: the messages of one key in one chunk of the log. `at` is a JSON array: for each message how far it
 * lies behind the chunk's first position, and for a mailbox beside it its bytes.
 */
interface PositionRow {
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

/** A row of the index while it is made. */
interface Draft {
  last: number;
  count: number;
  bytes: number;
  readonly at: number[];
}

/** The keys of one chunk, by kind; written out for speed, since every message passes here. */
class Drafts {
  readonly #chunk: number;
  readonly #kinds = {
    box: new Map<string, Draft>(),
    task: new Map<string, Draft>(),
    sender: new Map<string, Draft>(),
    to: new Map<string, Draft>(),
  };

  constructor(chunk: number) {
    this.#chunk = chunk;
  }

  get keys(): number {
    const { box, task, sender, to } = this.#kinds;
    return box.size + task.size + sender.size + to.size;
  }

  add(lsn: number, { box, taskId, from, to, body }: LogRow): void {
    this.#note('sender', from, lsn);
    if (taskId !== '') this.#note('task', taskId, lsn);
    if (box !== null) {
      const draft = this.#note('box', box, lsn);
      draft.at.push(body.length);
      draft.bytes += body.length;
    }
    if (to !== box && isName(to)) this.#note('to', to, lsn);
  }

  *rows(): Generator<[kind: Kind, key: string, draft: Draft]> {
    for (const kind of ['sender', 'task', 'box', 'to'] as const) {
      for (const [key, draft] of this.#kinds[kind]) yield [kind, key, draft];
    }
  }

  #note(kind: Kind, key: string, lsn: number): Draft {
    const drafts = this.#kinds[kind];
    let draft = drafts.get(key);
    if (draft === undefined) {
      draft = { last: lsn, count: 0, bytes: 0, at: [] };
      drafts.set(key, draft);
    }
    draft.last = lsn;
    draft.count += 1;
    draft.at.push(lsn - this.#chunk);
    return draft;
  }
}

/** The same keys, for a message that goes. */
function keysOf({ box, taskId, from, to }: LogRow): [kind: Kind, key: string][] {
  const keys: [Kind, string][] = [['sender', from]];
  if (taskId !== '') keys.push(['task', taskId]);
  if (box !== null) keys.push(['box', box]);
  if (to !== box && isName(to)) keys.push(['to', to]);
  return keys;
}

/** Indexes the messages after a position, as many as make one chunk; returns the last position and the bytes that it covers. */
export function indexChunk(prepare: Prepare, unindexed: Unindexed, afterLsn: number): { last: number; bytes: number } {
  const first = Math.max(afterLsn + 1, unindexed.first);
  const drafts = new Drafts(first);
  const ids: string[] = [];
  let [last, bytes, ts] = [first - 1, 0, Number.POSITIVE_INFINITY];
  for (let lsn = first; lsn <= unindexed.last && lsn < first + CHUNK.messages; lsn += 1) {
    const row = unindexed.row(lsn);
    if (row !== undefined) {
      drafts.add(lsn, row);
      bytes += row.body.length;
      ts = Math.min(ts, unindexed.time(lsn));
    }
    ids.push(row?.id ?? '');
    last = lsn;
    if (bytes >= CHUNK.bytes || drafts.keys > CHUNK.keys - KEYS_EACH) break;
  }
  // Nothing is left of a stretch that was trimmed.
  if (ts === Number.POSITIVE_INFINITY) return { last, bytes };
  prepare('INSERT INTO chunk (first, last, ts) VALUES (?, ?, ?)').run(first, last, ts);
  prepare('INSERT INTO chunk_ids (chunk, ids) VALUES (?, ?)').run(first, JSON.stringify(ids));
  const add = prepare('INSERT INTO position (kind, key, chunk, last, count, bytes, at) VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const [kind, key, row] of drafts.rows()) {
    add.run(kind, key, first, row.last, row.count, row.bytes, JSON.stringify(row.at));
  }
  return { last, bytes };
}

function entriesOf(kind: Kind, { chunk, at }: PositionRow): Entry[] {
  const values = JSON.parse(at) as number[];
  if (kind !== 'box') return values.map((offset) => ({ lsn: chunk + offset, chunk, bytes: 0 }));
  const entries: Entry[] = [];
  for (let index = 0; index < values.length; index += 2) {
    entries.push({ lsn: chunk + (values[index] as number), chunk, bytes: values[index + 1] as number });
  }
  return entries;
}

/** The ids of a chunk's messages, in log order; empty where a message was missing already. */
export function idsOf(prepare: Prepare, chunk: number): string[] {
  const row = prepare('SELECT ids FROM chunk_ids WHERE chunk = ?').get(chunk) as { ids: string } | undefined;
  return row === undefined ? [] : (JSON.parse(row.ids) as string[]);
}

/** Position up to which everything is in the index. */
export function indexedUpTo(prepare: Prepare): number {
  const row = prepare('SELECT last FROM chunk ORDER BY first DESC LIMIT 1').get();
  return (row as { last: number } | undefined)?.last ?? 0;
}

/** Messages of a key after a position, as far as the index goes, in log order. */
export function* forwards(prepare: Prepare, kind: Kind, key: string, afterLsn: number): Generator<Entry> {
  const around = prepare(
    'SELECT chunk, at FROM position WHERE kind = ? AND key = ? AND chunk <= ? ORDER BY chunk DESC LIMIT 1',
  ).get(kind, key, afterLsn) as PositionRow | undefined;
  if (around !== undefined) {
    for (const entry of entriesOf(kind, around)) if (entry.lsn > afterLsn) yield entry;
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
      yield* entriesOf(kind, row);
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
      for (const entry of entriesOf(kind, row).reverse()) if (entry.lsn < beforeLsn) yield entry;
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
  for (const { lsn, bytes } of entriesOf('box', around)) {
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

/** Takes messages that are deleted, in log order, out of the index. */
export function unindex(prepare: Prepare, messages: readonly StoredMessage[]): void {
  const chunkOf = prepare('SELECT first, last FROM chunk WHERE first <= ? ORDER BY first DESC LIMIT 1');
  const rows = new Map<string, { kind: Kind; key: string; chunk: number; lsns: Set<number> }>();
  let chunk: { readonly first: number; readonly last: number } | undefined;
  for (const message of messages) {
    if (chunk === undefined || message.lsn > chunk.last) chunk = chunkOf.get(message.lsn) as typeof chunk;
    if (chunk === undefined || message.lsn > chunk.last) continue;
    for (const [kind, key] of keysOf(message)) {
      const name = `${kind} ${chunk.first} ${key}`;
      const row = rows.get(name) ?? { kind, key, chunk: chunk.first, lsns: new Set() };
      rows.set(name, row);
      row.lsns.add(message.lsn);
    }
  }
  for (const row of rows.values()) strike(prepare, row);
  for (const chunk of new Set([...rows.values()].map((row) => row.chunk))) forget(prepare, chunk);
}

/** A chunk of which nothing is left is no longer told of. */
function forget(prepare: Prepare, chunk: number): void {
  const left = prepare(
    `SELECT 1 FROM chunk WHERE first = ? AND EXISTS
      (SELECT 1 FROM batch WHERE batch.first <= chunk.last AND batch.first + count > chunk.first AND batch.first > chunk.first - 256)`,
  ).get(chunk);
  if (left !== undefined) return;
  prepare('DELETE FROM chunk WHERE first = ?').run(chunk);
  prepare('DELETE FROM chunk_ids WHERE chunk = ?').run(chunk);
}

function strike(
  prepare: Prepare,
  { kind, key, chunk, lsns }: { kind: Kind; key: string; chunk: number; lsns: Set<number> },
): void {
  const whole = 'DELETE FROM position WHERE kind = ? AND key = ? AND chunk = ? AND count <= ?';
  if (prepare(whole).run(kind, key, chunk, lsns.size).changes > 0) return;
  const row = prepare('SELECT chunk, at FROM position WHERE kind = ? AND key = ? AND chunk = ?').get(kind, key, chunk);
  if (row === undefined) return;
  const left = entriesOf(kind, row as unknown as PositionRow).filter(({ lsn }) => !lsns.has(lsn));
  prepare('UPDATE position SET (last, count, bytes, at) = (?, ?, ?, ?) WHERE kind = ? AND key = ? AND chunk = ?').run(
    left.at(-1)?.lsn ?? chunk,
    left.length,
    left.reduce((sum, { bytes }) => sum + bytes, 0),
    JSON.stringify(left.flatMap(({ lsn, bytes }) => (kind === 'box' ? [lsn - chunk, bytes] : [lsn - chunk]))),
    kind,
    key,
    chunk,
  );
}
