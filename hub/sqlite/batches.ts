import type { LogFilter, StoredMessage } from '../storage.ts';
import { type Batch, OpenBatch } from './batch.ts';
import type { Prepare } from './statements.ts';

/** The batch that holds a position, if the position was not trimmed. */
export function batchAt(prepare: Prepare, lsn: number): OpenBatch | undefined {
  const row = prepare('SELECT * FROM batch WHERE first <= ? ORDER BY first DESC LIMIT 1').get(lsn);
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
      open = batchAt(prepare, lsn);
      if (open === undefined) continue;
      opened(open);
    }
    yield open.message(lsn);
  }
}

/** Batches that hold positions after `afterLsn`, in order. Whoever stops early must end the generator: it holds the write-ahead log. */
export function* batchesAfter(prepare: Prepare, afterLsn: number): Generator<OpenBatch> {
  const around = batchAt(prepare, afterLsn + 1);
  if (around !== undefined) yield around;
  const next = prepare('SELECT * FROM batch WHERE first > ? ORDER BY first').iterate(afterLsn + 1);
  for (const row of next) yield new OpenBatch(row as unknown as Batch);
}

/** Batches that begin before a position, the newest first. */
export function* batchesBefore(prepare: Prepare, lsn: number): Generator<OpenBatch> {
  const before = prepare('SELECT * FROM batch WHERE first < ? ORDER BY first DESC').iterate(lsn);
  for (const row of before) yield new OpenBatch(row as unknown as Batch);
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
