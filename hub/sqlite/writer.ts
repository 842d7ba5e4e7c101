import { AppError } from '../../base/errors.ts';
import type { Database } from '../../base/sqlite.ts';
import type { Change, LogRow } from '../storage.ts';
import { isOver } from '../task-machine.ts';
import { isOneBatch, Packer } from './batch.ts';
import { CHUNK, indexChunk } from './index-chunk.ts';
import { forwards } from './positions.ts';
import { type Prepare, statements } from './statements.ts';
import { taskColumns, taskValues } from './task-rows.ts';
import { type Transaction, toldWhenFull, transactions } from './transactions.ts';
import type { Unindexed } from './unindexed.ts';

/** Messages that may wait for the index; beyond that more than one chunk is written at once. */
const MOST_UNINDEXED = 4096;

type Rest = Exclude<Change, { kind: 'message' }>;

/** The one who writes: all changes in one transaction, or none. */
export class Writer {
  readonly #transaction: Transaction;
  readonly #prepare: Prepare;
  readonly #unindexed: Unindexed;
  readonly #packer = new Packer();
  #last: number;
  #bytes = 0;

  /** `last` is the position of the newest message ever committed. */
  constructor(database: Database, unindexed: Unindexed, last: number) {
    this.#transaction = transactions(database);
    this.#prepare = statements(database);
    this.#unindexed = unindexed;
    this.#last = last;
  }

  /** Position of the newest message ever committed. */
  get last(): number {
    return this.#last;
  }

  /** Bytes of the frames in the last commit. */
  get bytes(): number {
    return this.#bytes;
  }

  commit(changes: readonly Change[], ts: number): number[] {
    const rows: LogRow[] = [];
    const rest: Rest[] = [];
    for (const change of changes) {
      if (change.kind === 'message') rows.push(change.row);
      else rest.push(change);
    }
    let bytes = 0;
    const insert = () => {
      const add = this.#prepare('INSERT INTO batch (first, ts, count, marks, frames) VALUES (?, ?, ?, ?, ?)');
      for (const { first, count, marks, frames } of this.#packer.pack(rows, this.#last + 1, ts)) {
        add.run(first, ts, count, marks, frames);
        bytes += frames.length;
      }
    };
    let indexed = 0;
    // One statement is a transaction by itself; a BEGIN and a COMMIT cost a quarter of a small commit.
    if (rest.length === 0 && isOneBatch(rows) && !this.#isChunkFull()) toldWhenFull(insert);
    else {
      this.#transaction(() => {
        insert();
        applyAll(this.#prepare, coalesced(rest), { ts, unindexed: this.#unindexed });
        indexed = this.#index();
      });
    }
    this.#unindexed.dropUpTo(indexed);
    this.#bytes = bytes;
    return rows.map((row) => {
      this.#last += 1;
      this.#unindexed.add(this.#last, row, ts);
      return this.#last;
    });
  }

  #isChunkFull(): boolean {
    return this.#unindexed.size >= CHUNK.messages || this.#unindexed.bytes >= CHUNK.bytes;
  }

  /** Indexes one chunk if there is a full one, and more while much is left to do; returns how far that went. */
  #index(): number {
    if (!this.#isChunkFull()) return 0;
    let [upTo, bytes] = [0, this.#unindexed.bytes];
    do {
      const chunk = indexChunk(this.#prepare, this.#unindexed, upTo);
      upTo = chunk.last;
      bytes -= chunk.bytes;
      // Large messages are few keys and much memory.
    } while (this.#unindexed.countAfter(upTo) > MOST_UNINDEXED || bytes >= CHUNK.bytes);
    return upTo;
  }
}

/** Leaves out cursor moves that a later one of the same commit overtakes. */
function coalesced(changes: readonly Rest[]): Rest[] {
  const overtaken = new Set<string>();
  const kept: Rest[] = [];
  for (const change of changes.toReversed()) {
    if (change.kind === 'cursor') {
      if (overtaken.has(change.name)) continue;
      overtaken.add(change.name);
    } else if (change.kind !== 'task' && change.kind !== 'checkpoint') overtaken.clear();
    kept.push(change);
  }
  return kept.reverse();
}

function applyAll(prepare: Prepare, changes: readonly Rest[], now: { ts: number; unindexed: Unindexed }): void {
  for (const change of changes) {
    switch (change.kind) {
      case 'task':
        writeTask(prepare, change);
        break;
      case 'checkpoint':
        prepare('INSERT OR REPLACE INTO checkpoint SELECT task_id, ? FROM task WHERE task_id = ?').run(
          change.checkpoint,
          change.taskId,
        );
        break;
      case 'session': {
        const { name, session, tokenHash, acked } = change.session;
        prepare('INSERT OR REPLACE INTO session (name, session, token_hash, acked) VALUES (?, ?, ?, ?)').run(
          name,
          session,
          tokenHash,
          acked,
        );
        break;
      }
      case 'forget_session':
        prepare('DELETE FROM session WHERE name = ?').run(change.name);
        break;
      case 'cursor':
        prepare('UPDATE session SET acked = ? WHERE name = ?').run(change.acked, change.name);
        break;
      case 'dead':
        bury(prepare, change, now);
        break;
      case 'drop_dead':
        for (const lsn of change.lsns) {
          prepare('INSERT OR IGNORE INTO dropped SELECT lsn FROM dead WHERE lsn = ?').run(lsn);
          prepare('DELETE FROM dead WHERE lsn = ?').run(lsn);
        }
        break;
      default:
        change satisfies never;
    }
  }
}

const values = taskColumns.map(() => '?').join(', ');
const addTask = `INSERT INTO task (${taskColumns.join(', ')}) VALUES (${values})`;
const setTask = `UPDATE task SET (${taskColumns.join(', ')}) = (${values}) WHERE task_id = ? AND attempt = ? AND sub_state = ?`;

function writeTask(prepare: Prepare, { task, expect }: Extract<Rest, { kind: 'task' }>): void {
  if (expect === null) {
    prepare(addTask).run(...taskValues(task));
    return;
  }
  const { changes } = prepare(setTask).run(...taskValues(task), task.taskId, expect.attempt, expect.subState);
  if (changes !== 1) {
    throw new AppError('internal', `task ${task.taskId} does not stand at ${expect.subState}/${expect.attempt}`);
  }
  if (isOver(task.subState)) prepare('DELETE FROM checkpoint WHERE task_id = ?').run(task.taskId);
}

function bury(
  prepare: Prepare,
  { box, after, upto, reason }: Extract<Rest, { kind: 'dead' }>,
  { ts, unindexed }: { ts: number; unindexed: Unindexed },
): void {
  const add = prepare('INSERT OR IGNORE INTO dead (lsn, box, reason, died_at) VALUES (?, ?, ?, ?)');
  for (const { lsn } of forwards(prepare, 'box', box, after)) {
    if (lsn > upto) return;
    add.run(lsn, box, reason, ts);
  }
  for (let lsn = Math.max(after + 1, unindexed.first); lsn <= Math.min(upto, unindexed.last); lsn += 1) {
    if (unindexed.row(lsn)?.box === box) add.run(lsn, box, reason, ts);
  }
}
