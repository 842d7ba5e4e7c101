import type { LogFilter, StoredMessage } from '../storage.ts';
import { type Batch, OpenBatch } from './batch.ts';
import { isRot, standIn } from './rot.ts';
import type { Prepare } from './statements.ts';

const holding = 'SELECT * FROM batch WHERE first <= ? ORDER BY first DESC LIMIT 1';

/** A statement that failed tells of it once more when it begins anew. */
function clear(prepare: Prepare, sql: string): void {
  try {
    prepare(sql).get(-1);
  } catch {
    // That was it.
  }
}

/** The batch that holds a position, if the position was not trimmed. */
export function batchAt(prepare: Prepare, lsn: number): OpenBatch | undefined {
  let row: ReturnType<ReturnType<Prepare>['get']>;
  try {
    row = prepare(holding).get(lsn);
  } catch (error) {
    if (isRot(error)) clear(prepare, holding);
    throw error;
  }
  if (row === undefined) return undefined;
  const batch = row as unknown as Batch;
  return lsn < batch.first + batch.count ? new OpenBatch(batch) : undefined;
}

/** The messages at these positions as far as they are still there; positions that are neighbours open their batch once. */
export function* messagesAt(
  prepare: Prepare,
  lsns: Iterable<number>,
  opened: (batch: OpenBatch) => void = () => undefined,
): Generator<StoredMessage> {
  let open: OpenBatch | undefined;
  for (const lsn of lsns) {
    if (open === undefined || lsn < open.first || lsn > open.last) {
      try {
        open = batchAt(prepare, lsn);
      } catch (error) {
        if (!isRot(error)) throw error;
        open = undefined;
        yield standIn(lsn, 0, null);
      }
      if (open === undefined) continue;
      opened(open);
    }
    yield open.message(lsn);
  }
}

/** Batches that hold positions after `afterLsn`, in order. Whoever stops early must end the generator: it holds the write-ahead log. */
export function* batchesAfter(prepare: Prepare, afterLsn: number): Generator<OpenBatch> {
  const around = prepare('SELECT first, count FROM batch WHERE first <= ? ORDER BY first DESC LIMIT 1').get(
    afterLsn + 1,
  );
  const { first, count } = (around ?? { first: 0, count: 0 }) as { first: number; count: number };
  const from = afterLsn + 1 < first + count ? first : afterLsn + 2;
  yield* stepping(prepare, 'SELECT * FROM batch WHERE first >= ? ORDER BY first', from, (last) => last + 1);
}

/** Batches that begin before a position, the newest first. */
export function* batchesBefore(prepare: Prepare, lsn: number): Generator<OpenBatch> {
  yield* stepping(prepare, 'SELECT * FROM batch WHERE first <= ? ORDER BY first DESC', lsn - 1, (last) => last - 1);
}

/** Batch after batch. One whose row SQLite cannot read, as far as its first columns can be, comes without its frames. */
function* stepping(
  prepare: Prepare,
  all: string,
  start: number,
  further: (first: number) => number,
): Generator<OpenBatch> {
  const one = all.replace('*', 'first, ts, count');
  for (let from: number | undefined = start; from !== undefined; ) {
    let rotten: number | undefined = from;
    try {
      for (const row of prepare(all).iterate(from)) {
        const batch = row as unknown as Batch;
        rotten = further(batch.first);
        yield new OpenBatch(batch);
      }
      return;
    } catch (error) {
      if (!isRot(error)) throw error;
      clear(prepare, all);
    }
    const row = prepare(`${one} LIMIT 1`).get(rotten) as Omit<Batch, 'marks' | 'frames'> | undefined;
    if (row !== undefined) yield new OpenBatch({ ...row, marks: '', frames: Buffer.alloc(0) });
    from = row === undefined ? undefined : further(row.first);
  }
}

/** The messages of a batch after a position and up to another. */
export function* messagesOf(batch: OpenBatch, afterLsn = 0, upTo = batch.last): Generator<StoredMessage> {
  const last = Math.min(batch.last, upTo);
  for (let lsn = Math.max(batch.first, afterLsn + 1); lsn <= last; lsn += 1) yield batch.message(lsn);
}

/**
 * Whether a batch may hold a message that a filter asks for; looks at the bytes, which costs a hundredth of parsing them.
 * The hub logs names, types and ids without escapes.
 */
export function mayHold(batch: OpenBatch, { taskId, type, agent }: LogFilter): boolean {
  if (taskId !== undefined && !batch.mentions(`"${taskId}`)) return false;
  if (type !== undefined && !batch.mentions(`"${type}"`)) return false;
  return agent === undefined || batch.mentions(`"${agent}"`);
}
