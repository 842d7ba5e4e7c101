import { messageOf } from '../base/errors.ts';
import { type Database, openDatabase } from '../base/sqlite.ts';
import { setFileAside } from '../base/state-file.ts';
import { readLatest, readPage, readTaskTable } from './queries.ts';
import { type LogColumns, toMessage, toTask } from './rows.ts';
import { migrate, readEpoch } from './schema.ts';
import type { MailboxFacts, SessionRecord, Storage } from './storage.ts';
import { writer } from './writer.ts';

/** Largest database, in bytes, that is looked through at the start: about half a second. */
const CHECKED = 256 * 1024 * 1024;

/** Opens the store at `path`; a damaged file is moved to `setAside` and a new one begun. */
export async function openStorage(path: string): Promise<{ storage: Storage; setAside?: string }> {
  try {
    return { storage: await openSound(path) };
  } catch (error) {
    if (path === ':memory:' || !isDamage(error)) throw error;
    const setAside = await setDatabaseAside(path);
    return { storage: await openSound(path), setAside };
  }
}

async function openSound(path: string): Promise<Storage> {
  const database = await openDatabase(path);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000');
    checkSound(database);
    migrate(database);
    return sqliteStorage(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Looks through the whole file, unless that would keep people waiting. */
function checkSound(database: Database): void {
  const { bytes } = database
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .get() as { bytes: number };
  if (bytes > CHECKED) return;
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (verdict !== 'ok') throw new Error(`the database is malformed: ${verdict}`);
}

/** SQLITE_IOERR_SHORT_READ: a file, or its write-ahead log, ends before what it is known to hold. */
const SHORT_READ = 522;

function isDamage(error: unknown): boolean {
  if ((error as { errcode?: unknown }).errcode === SHORT_READ) return true;
  return /malformed|not a database|corrupt|no such (table|column)/i.test(messageOf(error));
}

/** The write-ahead log belongs to the damaged file and must not be replayed into a new one. */
async function setDatabaseAside(path: string): Promise<string> {
  const aside = await setFileAside(path);
  for (const suffix of ['-wal', '-shm']) await setFileAside(`${path}${suffix}`).catch(() => undefined);
  return aside;
}

function sqliteStorage(database: Database): Storage {
  const write = writer(database);
  const lastLsn = database.prepare('SELECT coalesce(max(seq), 0) AS lsn FROM sqlite_sequence WHERE name = ?');
  const box = database.prepare('SELECT * FROM log WHERE box = ? AND lsn > ? ORDER BY lsn LIMIT ?');
  const facts = database.prepare(
    'SELECT count(*) AS depth, coalesce(sum(bytes), 0) AS bytes, coalesce(max(lsn), 0) AS last FROM log WHERE box = ? AND lsn > ?',
  );
  const at = database.prepare('SELECT * FROM log WHERE lsn = ?');
  const byTask = database.prepare('SELECT * FROM log WHERE task_id = ? AND id = ? LIMIT 1');
  const end = () => (lastLsn.get('log') as { lsn: number } | undefined)?.lsn ?? 0;
  return {
    epoch: readEpoch(database),
    commit: async (changes, ts) => write(changes, ts),
    lastLsn: async () => end(),
    tail: async (filter, afterLsn, limit, maxBytes) =>
      readPage(database, filter, afterLsn, { limit, maxBytes, end: end() }),
    byTask: async (taskId, id) => optional(byTask.get(taskId, id)),
    at: async (lsn) => optional(at.get(lsn)),
    mailbox: async (name, afterLsn, limit) =>
      (box.all(name, afterLsn, limit) as unknown as LogColumns[]).map(toMessage),
    mailboxFacts: async (name, afterLsn) => facts.get(name, afterLsn) as unknown as MailboxFacts,
    recentIds: async (from, count) =>
      database
        .prepare('SELECT id, lsn FROM (SELECT id, lsn FROM log WHERE src = ? ORDER BY lsn DESC LIMIT ?) ORDER BY lsn')
        .all(from, count) as { id: string; lsn: number }[],
    task: async (taskId) => {
      const row = database.prepare('SELECT * FROM task WHERE task_id = ?').get(taskId);
      return row === undefined ? undefined : toTask(row as never);
    },
    tasks: async (filter) => readTaskTable(database, filter),
    positionAt: async (ts) =>
      (database.prepare('SELECT coalesce(max(lsn), 0) AS lsn FROM log WHERE ts <= ?').get(ts) as { lsn: number }).lsn,
    latest: async (filter, count) => readLatest(database, filter, count),
    deadLetters: async (afterLsn, limit) =>
      database
        .prepare(
          'SELECT log.*, dead.reason, dead.died_at FROM dead JOIN log USING (lsn) WHERE lsn > ? ORDER BY lsn LIMIT ?',
        )
        .all(afterLsn, limit)
        .map((row) => {
          const { reason, died_at: diedAt } = row as { reason: string; died_at: number };
          const message = toMessage(row as unknown as LogColumns);
          return { lsn: message.lsn, box: message.box ?? '', reason, diedAt, message };
        }),
    trim: async ({ before = 0 }) =>
      Number(
        database
          .prepare(
            `DELETE FROM log WHERE ts < ? AND lsn NOT IN (SELECT lsn FROM dead)
             AND (box IS NULL OR lsn <= coalesce((SELECT acked FROM session WHERE name = box), lsn))
             AND task_id NOT IN (SELECT task_id FROM task WHERE sub_state NOT IN ('done', 'failed', 'cancelled', 'dead'))`,
          )
          .run(before).changes,
      ),
    sessions: async () =>
      database
        .prepare('SELECT name, session, token_hash AS tokenHash, acked FROM session')
        .all() as unknown as SessionRecord[],
    close: async () => {
      // One file is left behind, complete without its write-ahead log.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}

const optional = (row: unknown) => (row === undefined ? undefined : toMessage(row as LogColumns));
