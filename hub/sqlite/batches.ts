import type { LogFilter, StoredMessage } from '../storage.ts';
import { type Batch, OpenBatch } from './batch.ts';
import type { Prepare } from './statements.ts';

/** Batches read at once by a scan. */
const PAGE = 16;

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

/** Batches that hold positions after `afterLsn`, in order. */
export function* batchesAfter(prepare: Prepare, afterLsn: number): Generator<OpenBatch> {
  const around = batchAt(prepare, afterLsn + 1);
  if (around !== undefined) yield around;
  const next = prepare('SELECT * FROM batch WHERE first > ? ORDER BY first LIMIT ?');
  yield* paged((position) => next.all(position, PAGE), afterLsn + 1);
}

/** Batches that begin before a position, the newest first. */
export function* batchesBefore(prepare: Prepare, lsn: number): Generator<OpenBatch> {
  const before = prepare('SELECT * FROM batch WHERE first < ? ORDER BY first DESC LIMIT ?');
  yield* paged((position) => before.all(position, PAGE), lsn);
}

/** No statement stays open between pages, so that no reader holds the write-ahead log. */
function* paged(read: (position: number) => unknown[], start: number): Generator<OpenBatch> {
  let position = start;
  for (;;) {
    const rows = read(position) as Batch[];
    for (const row of rows) {
      position = row.first;
      yield new OpenBatch(row);
    }
    if (rows.length < PAGE) return;
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
