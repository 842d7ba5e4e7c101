import { AppError, messageOf } from '../base/errors.ts';
import { type Database, openDatabase } from '../base/sqlite.ts';
import { setFileAside } from '../base/state-file.ts';
import { type LogColumns, taskColumns, taskValues, toMessage, toTask } from './rows.ts';
import { migrate, readEpoch } from './schema.ts';
import type { Change, LogFilter, LogPage, MailboxFacts, SessionRecord, Storage, TaskRecord } from './storage.ts';

/** Rows of the log that one read looks at, so that no read holds the thread for long. */
const SCAN = 20_000;

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

function isDamage(error: unknown): boolean {
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
    recentIds: async (count) =>
      database.prepare('SELECT src AS "from", id, lsn FROM log WHERE lsn > ? ORDER BY lsn').all(end() - count) as {
        from: string;
        id: string;
        lsn: number;
      }[],
    tasks: async () => readTaskTable(database),
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

/** All rows of the task table, oldest first. */
export function readTaskTable(database: Database): TaskRecord[] {
  return database
    .prepare('SELECT * FROM task ORDER BY created, task_id')
    .all()
    .map((row) => toTask(row as never));
}

/** One piece of the log after `afterLsn`, up to position `end`. */
export function readPage(
  database: Database,
  filter: LogFilter,
  afterLsn: number,
  bounds: { limit: number; maxBytes: number; end: number },
): LogPage {
  const until = Math.min(bounds.end, filter.taskId !== undefined && !filter.tree ? bounds.end : afterLsn + SCAN);
  const { where, values } = conditions(filter);
  const rows = database
    .prepare(`SELECT * FROM log WHERE lsn > ? AND lsn <= ?${where} ORDER BY lsn LIMIT ?`)
    .iterate(afterLsn, until, ...values, bounds.limit + 1);
  const messages = [];
  let room = bounds.maxBytes;
  for (const row of rows) {
    const message = toMessage(row as unknown as LogColumns);
    if (messages.length === bounds.limit || (messages.length > 0 && message.bytes > room)) {
      return { messages, next: messages.at(-1)?.lsn ?? afterLsn };
    }
    room -= message.bytes;
    messages.push(message);
  }
  return until < bounds.end ? { messages, next: until } : { messages };
}

function conditions(filter: LogFilter): { where: string; values: string[] } {
  const parts: [string, string[]][] = [];
  const { taskId } = filter;
  // A unary plus keeps SQLite from sorting a whole tree by way of the index on task_id.
  if (taskId !== undefined && filter.tree) {
    parts.push(['(+task_id = ? OR (+task_id > ? AND +task_id < ?))', [taskId, `${taskId}.`, `${taskId}/`]]);
  } else if (taskId !== undefined) parts.push(["task_id = ? AND task_id <> ''", [taskId]]);
  if (filter.type !== undefined) parts.push(['type = ?', [filter.type]]);
  if (filter.agent !== undefined)
    parts.push(['(src = ? OR dst = ? OR box = ?)', [filter.agent, filter.agent, filter.agent]]);
  return { where: parts.map(([sql]) => ` AND ${sql}`).join(''), values: parts.flatMap(([, values]) => values) };
}

/** Builds the one function that writes, with its statements prepared once. */
function writer(database: Database): (changes: readonly Change[], ts: number) => number[] {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const addMessage = database.prepare(
    'INSERT INTO log (ts, type, src, dst, box, task_id, id, attempt, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const marks = taskColumns.map(() => '?').join(', ');
  const addTask = database.prepare(`INSERT INTO task (${taskColumns.join(', ')}) VALUES (${marks})`);
  const setTask = database.prepare(
    `UPDATE task SET (${taskColumns.join(', ')}) = (${marks}) WHERE task_id = ? AND attempt = ? AND sub_state = ?`,
  );
  const setSession = database.prepare(
    'INSERT OR REPLACE INTO session (name, session, token_hash, acked) VALUES (?, ?, ?, ?)',
  );
  const setCursor = database.prepare('UPDATE session SET acked = ? WHERE name = ?');
  const apply = (change: Change, ts: number, lsns: number[]) => {
    switch (change.kind) {
      case 'message': {
        const { row } = change;
        const done = addMessage.run(
          ts,
          row.type,
          row.from,
          row.to,
          row.box,
          row.taskId,
          row.id,
          row.attempt,
          row.bytes,
          row.body,
        );
        lsns.push(Number(done.lastInsertRowid));
        return;
      }
      case 'task': {
        const { task, expect } = change;
        if (expect === null) addTask.run(...taskValues(task));
        else if (setTask.run(...taskValues(task), task.taskId, expect.attempt, expect.subState).changes !== 1) {
          throw new AppError('internal', `task ${task.taskId} does not stand at ${expect.subState}/${expect.attempt}`);
        }
        return;
      }
      case 'session':
        setSession.run(change.session.name, change.session.session, change.session.tokenHash, change.session.acked);
        return;
      case 'cursor':
        setCursor.run(change.acked, change.name);
        return;
      default:
        change satisfies never;
    }
  };
  return (changes, ts) => {
    const lsns: number[] = [];
    begin.run();
    try {
      for (const change of changes) apply(change, ts, lsns);
      commit.run();
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
    return lsns;
  };
}
