import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../base/sqlite.ts';
import type { SessionRecord, Storage } from '../storage.ts';
import { readEpoch } from './schema.ts';
import { statements } from './statements.ts';
import { readUnindexed, StoredLog } from './stored-log.ts';
import { readTask, readTaskTable } from './task-rows.ts';
import { Trimmer } from './trim.ts';
import { Writer } from './writer.ts';

/** The storage in an open database whose schema is up to date. */
export function sqliteStorage(database: Database): Storage {
  const prepare = statements(database);
  const unindexed = readUnindexed(prepare);
  const writer = new Writer(database, unindexed, Math.max(unindexed.last, highWaterMark()));
  const trimmer = new Trimmer(database, unindexed);
  const reader = new StoredLog(database, unindexed);
  function highWaterMark(): number {
    const row = prepare("SELECT CAST(value AS INTEGER) AS last FROM meta WHERE key = 'last_lsn'").get();
    return (row as { last: number } | undefined)?.last ?? 0;
  }
  return {
    epoch: readEpoch(database),
    commit: async (changes, ts) => writer.commit(changes, ts),
    lastLsn: async () => writer.last,
    positionAt: async (ts) => reader.positionAt(ts),
    tail: async (filter, afterLsn, limit, maxBytes) =>
      reader.page(filter, afterLsn, { limit, maxBytes, end: writer.last }),
    latest: async (filter, count) => reader.latest(filter, count),
    byTask: async (taskId, id) => reader.byTask(taskId, id),
    at: async (lsn) => reader.at(lsn),
    mailbox: async (box, afterLsn, limit) => reader.mailbox(box, afterLsn, limit),
    mailboxFacts: async (box, afterLsn) => reader.facts(box, afterLsn),
    recentIds: async (from, count) => reader.recentIds(from, count),
    task: async (taskId) => readTask(prepare, taskId),
    tasks: async (filter) => readTaskTable(prepare, filter),
    sessions: async () =>
      prepare('SELECT name, session, token_hash AS tokenHash, acked FROM session').all() as unknown as SessionRecord[],
    deadLetters: async (afterLsn, limit) => reader.deadLetters(afterLsn, limit),
    trim: async (retention) => {
      let [total, next]: [number, number | undefined] = [0, 0];
      while (next !== undefined) {
        const piece: { deleted: number; next?: number } = trimmer.piece(retention, next, writer.last);
        total += piece.deleted;
        next = piece.next;
        await setImmediate();
      }
      return total;
    },
    close: async () => {
      // One file is left behind, complete without its write-ahead log.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}
