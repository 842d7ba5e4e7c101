import { setImmediate } from 'node:timers/promises';
import type { Log } from '../../base/log.ts';
import type { Database } from '../../base/sqlite.ts';
import type { LogPage, SessionRecord, Storage, StoredMessage } from '../storage.ts';
import { Beside } from './beside.ts';
import { Checkpoints } from './checkpoints.ts';
import { longReads } from './reads.ts';
import { RotReport } from './rot-report.ts';
import { readEpoch } from './schema.ts';
import { type Prepare, statements } from './statements.ts';
import { readUnindexed, StoredLog } from './stored-log.ts';
import { readCheckpoint, readTask, readTaskTable } from './task-rows.ts';
import { Trimmer } from './trim.ts';
import { Writer } from './writer.ts';

/** Rows of the task table, dead letters and chunks that are read where they are asked for: less than a millisecond. */
const FEW = { tasks: 100, dead: 16, chunks: 16 };

/** The storage in an open database whose schema is up to date; `path` is where other threads find it, if they can. */
export function sqliteStorage(database: Database, path?: string, teller?: Log): Storage {
  const prepare = statements(database);
  const unindexed = readUnindexed(prepare);
  const writer = new Writer(database, unindexed, Math.max(unindexed.last, highWaterMark(prepare)));
  const log = new StoredLog(database, unindexed);
  const trimmer = new Trimmer(database, unindexed);
  const beside = path === undefined ? undefined : new Beside(path);
  const checkpoints = path === undefined || beside === undefined ? undefined : new Checkpoints(database, path, beside);
  const rot = new RotReport(prepare, path, teller);
  const long = beside ?? longReads(database);
  const hasFewTasks = () => prepare('SELECT 1 FROM task LIMIT ?').all(FEW.tasks + 1).length <= FEW.tasks;

  return {
    epoch: readEpoch(database),
    commit: async (changes, ts) => {
      if (checkpoints === undefined) return writer.commit(changes, ts);
      const lsns = await checkpoints.write(() => writer.commit(changes, ts));
      checkpoints.wrote(writer.bytes);
      return lsns;
    },
    lastLsn: async () => writer.last,
    positionAt: async (ts) => log.positionAt(ts),
    tail: async (filter, afterLsn, limit, maxBytes) => {
      if (unindexed.hasAllAfter(afterLsn)) {
        const page = log.page(filter, afterLsn, { limit, maxBytes, end: writer.last });
        rot.seen(page.messages);
        return page;
      }
      const end = unindexed.first - 1;
      const page = await long.tail(filter, afterLsn, { limit, maxBytes, end });
      rot.seen(page.messages);
      return page.next === undefined && end < writer.last ? { ...page, next: end } : page;
    },
    latest: async (filter, count, beforeLsn = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY) => {
      const known = log.latestInMemory(filter, count, beforeLsn, maxBytes);
      let room = maxBytes - sizeOf(known);
      if (known.length >= count || room <= 0 || unindexed.hasAllAfter(0)) return known;
      const found: StoredMessage[] = [];
      const left = count - known.length;
      // In pages, so that nobody waits for the end of a long search who asks something else meanwhile.
      let next: number | undefined = Math.min(beforeLsn, unindexed.first);
      while (next !== undefined && found.length < left && room > 0) {
        const page: LogPage = await long.pageBack(filter, next, left - found.length, room);
        found.push(...page.messages);
        room -= sizeOf(page.messages);
        next = page.next;
      }
      return rot.seen([...found.reverse(), ...known]);
    },
    byTask: async (taskId, id) => log.byTask(taskId, id),
    at: async (lsn) => {
      const message = log.at(lsn);
      if (message !== undefined) rot.seen([message]);
      return message;
    },
    mailbox: async (box, afterLsn, limit) => rot.seen(log.mailbox(box, afterLsn, limit)),
    mailboxFacts: async (box, afterLsn) => log.facts(box, afterLsn),
    recentIds: async (from, count) => {
      const chunks = prepare("SELECT 1 FROM position WHERE kind = 'sender' AND key = ? LIMIT ?").all(
        from,
        FEW.chunks + 1,
      );
      if (chunks.length <= FEW.chunks) return log.recentIds(from, count);
      const known = log.recentInMemory(from, count);
      return [...(await long.recentIds(from, count - known.length, unindexed.first)), ...known];
    },
    task: async (taskId) => readTask(prepare, taskId),
    checkpoint: async (taskId) => readCheckpoint(prepare, taskId),
    tasks: async (filter) => (hasFewTasks() ? readTaskTable(prepare, filter) : long.tasks(filter)),
    sessions: async () =>
      prepare('SELECT name, session, token_hash AS tokenHash, acked FROM session').all() as unknown as SessionRecord[],
    deadLetters: async (afterLsn, limit) => {
      const few = prepare('SELECT 1 FROM dead WHERE lsn > ? LIMIT ?').all(afterLsn, FEW.dead + 1).length <= FEW.dead;
      const letters = few ? log.deadLetters(afterLsn, limit) : await long.deadLetters(afterLsn, limit);
      rot.seen(letters.map(({ message }) => message));
      return letters;
    },
    wasGivenUp: async (lsn) =>
      prepare('SELECT 1 FROM dead WHERE lsn = :lsn UNION ALL SELECT 1 FROM dropped WHERE lsn = :lsn').get({ lsn }) !==
      undefined,
    trim: async (retention) => {
      const piece = (next: number) => trimmer.piece(retention, next, writer.last);
      return trimAll(checkpoints === undefined ? piece : (next) => checkpoints.write(() => piece(next)));
    },
    close: async () => {
      checkpoints?.stop();
      await beside?.close();
      if (!database.isOpen) return;
      // One file is left behind, complete without its write-ahead log.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}

function sizeOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, { body }) => sum + body.length, 0);
}

type Piece = ReturnType<Trimmer['piece']>;

/** Others have their turn between the pieces. */
async function trimAll(piece: (after: number) => Piece | Promise<Piece>): Promise<number> {
  let total = 0;
  let next: number | undefined = 0;
  while (next !== undefined) {
    const done: Piece = await piece(next);
    total += done.deleted;
    next = done.next;
    await setImmediate();
  }
  return total;
}

function highWaterMark(prepare: Prepare): number {
  const row = prepare("SELECT CAST(value AS INTEGER) AS last FROM meta WHERE key = 'last_lsn'").get();
  return (row as { last: number } | undefined)?.last ?? 0;
}
