import type { Database } from '../../base/sqlite.ts';
import type { Retention } from '../storage.ts';
import type { OpenBatch } from './batch.ts';
import { batchesAfter, messagesOf } from './batches.ts';
import { type Prepare, statements } from './statements.ts';
import { type Transaction, transactions } from './transactions.ts';
import { unindex } from './unindex.ts';
import type { Unindexed } from './unindexed.ts';

/** Messages and bytes that one piece looks at: a chunk of the index, whose rows are then deleted instead of written anew. */
const PIECE = { messages: 512, bytes: 1024 * 1024 };

/** Deletes old batches, oldest first and whole ones only, piece by piece. */
export class Trimmer {
  readonly #prepare: Prepare;
  readonly #transaction: Transaction;
  readonly #unindexed: Unindexed;

  constructor(database: Database, unindexed: Unindexed) {
    this.#prepare = statements(database);
    this.#transaction = transactions(database);
    this.#unindexed = unindexed;
  }

  /** Goes on after a position; returns how many messages went, and where to go on, if anywhere. `last` is the newest position ever. */
  piece(retention: Retention, afterLsn: number, last: number): { deleted: number; next?: number } {
    const gone: OpenBatch[] = [];
    let [position, messages, bytes] = [afterLsn, 0, 0];
    let done = true;
    const waiting = new Map(retention.waiting?.map(({ box, after }) => [box, after]));
    const excess = retention.maxBytes === undefined ? 0 : this.size() - retention.maxBytes;
    for (const batch of batchesAfter(this.#prepare, afterLsn)) {
      const isOld = batch.ts < (retention.before ?? 0) || bytesOf(gone) < excess;
      if (!isOld) break;
      if (messages >= PIECE.messages || bytes >= PIECE.bytes) {
        done = false;
        break;
      }
      position = batch.last;
      messages += batch.last - batch.first + 1;
      bytes += batch.size;
      // What cannot be read as a row cannot be deleted as one either.
      if (batch.size > 0 && !this.#isNeeded(batch, waiting)) gone.push(batch);
    }
    if (gone.length > 0) this.#transaction(() => this.#delete(gone, last));
    for (const { first, last: end } of gone) this.#unindexed.remove(first, end);
    const deleted = gone.reduce((sum, batch) => sum + batch.last - batch.first + 1, 0);
    // How many pages a batch gives back is known only afterwards.
    const isLarge = deleted > 0 && this.size() > (retention.maxBytes ?? Number.POSITIVE_INFINITY);
    return done && !isLarge ? { deleted } : { deleted, next: position };
  }

  /** Bytes of the database in use; what was freed is used again before the file grows. */
  size(): number {
    const { bytes } = this.#prepare(
      `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    ).get() as { bytes: number };
    return bytes;
  }

  #delete(batches: readonly OpenBatch[], last: number): void {
    for (const { first, last: end } of batches) {
      this.#prepare('DELETE FROM batch WHERE first = ?').run(first);
      this.#prepare('DELETE FROM dropped WHERE lsn BETWEEN ? AND ?').run(first, end);
    }
    unindex(
      this.#prepare,
      batches.flatMap((batch) => [...messagesOf(batch)]),
    );
    this.#prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_lsn', ?)").run(String(last));
  }

  /** Whether it holds a message that waits, a dead letter, or one of a task that is not over. */
  #isNeeded(batch: OpenBatch, waiting: ReadonlyMap<string, number>): boolean {
    const dead = this.#prepare('SELECT 1 FROM dead WHERE lsn BETWEEN ? AND ?').get(batch.first, batch.last);
    if (dead !== undefined) return true;
    const waits = this.#prepare('SELECT 1 FROM session WHERE name = ? AND acked < ?');
    const open = this.#prepare(
      "SELECT 1 FROM task WHERE task_id = ? AND sub_state NOT IN ('done', 'failed', 'cancelled', 'dead')",
    );
    const [boxes, tasks] = [new Map<string, number>(), new Set<string>()];
    for (const { lsn, box, taskId } of messagesOf(batch)) {
      if (box !== null) boxes.set(box, lsn);
      if (taskId !== '') tasks.add(taskId);
    }
    for (const [box, lsn] of boxes) if (lsn > (waiting.get(box) ?? Number.POSITIVE_INFINITY)) return true;
    for (const [box, lsn] of boxes) if (waits.get(box, lsn) !== undefined) return true;
    for (const task of tasks) if (open.get(task) !== undefined) return true;
    return false;
  }
}

function bytesOf(batches: readonly OpenBatch[]): number {
  return batches.reduce((sum, { size }) => sum + size, 0);
}
