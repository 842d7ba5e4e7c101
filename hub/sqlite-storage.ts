import { dirname } from 'node:path';
import { AppError, messageOf } from '../base/errors.ts';
import { type Database, openDatabase } from '../base/sqlite.ts';
import { setFileAside } from '../base/state-file.ts';
import { catchUpIndex } from './sqlite/catch-up.ts';
import { packOldRows } from './sqlite/old-rows.ts';
import { migrate } from './sqlite/schema.ts';
import { sqliteStorage } from './sqlite/store.ts';
import type { Storage, StorageOptions } from './storage.ts';

/** Largest database, in bytes, that is looked through at the start: about half a second. */
const CHECKED = 256 * 1024 * 1024;

/** Opens the store at `path`; a damaged file is moved to `setAside` and a new one begun. */
export async function openStorage(
  path: string,
  options: StorageOptions = {},
): Promise<{ storage: Storage; setAside?: string }> {
  const opened = await openSound(path, options);
  if (typeof opened !== 'string') return { storage: opened };
  const storage = await openSound(path, options);
  if (typeof storage !== 'string') return { storage, setAside: opened };
  throw new AppError('damaged_state', `the log ${path} is damaged again as soon as it is made; is the disk sound?`);
}

/** The store, or where the file was moved to because it is damaged. */
async function openSound(path: string, { durability = 'process', log }: StorageOptions): Promise<Storage | string> {
  const database = await openDatabase(path).catch((cause: unknown) => {
    throw unusable(path, cause);
  });
  try {
    const synchronous = durability === 'power' ? 'FULL' : 'NORMAL';
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA busy_timeout = 2000`);
    checkSound(database);
    migrate(database);
    await packOldRows(database, teller(log));
    await catchUpIndex(database);
    return sqliteStorage(database, path === ':memory:' ? undefined : path, log);
  } catch (error) {
    // It is moved away before it is closed, since SQLite tidies up behind itself when it closes.
    const setAside = path !== ':memory:' && isDamage(error) ? await setDatabaseAside(path) : undefined;
    database.close();
    if (setAside !== undefined) return setAside;
    throw isReadOnly(error) ? unusable(path, error) : error;
  }
}

/** SQLITE_READONLY, with or without a detail; SQLITE_CANTOPEN. */
function isReadOnly(error: unknown): boolean {
  const code = Number((error as { errcode?: unknown }).errcode) & 0xff;
  return code === 8 || code === 14;
}

function unusable(path: string, cause: unknown): AppError {
  const reason = messageOf(cause);
  return new AppError(
    'misconfigured',
    `the log ${path} cannot be opened (${reason}); is ${dirname(path)} a folder that can be written to?`,
    { cause },
  );
}

/** Says now and then how far an old log is. */
function teller(log: StorageOptions['log']): (done: number, of: number) => void {
  let toldAt = 0;
  return (done, of) => {
    if (done < of && Date.now() - toldAt < 1000) return;
    toldAt = Date.now();
    log?.info({ done, of }, 'the log is brought to a new form');
  };
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
  // A rotten byte in a batch: SQLite sees nothing wrong, and what it holds is no JSON.
  if (error instanceof SyntaxError || (error as { errcode?: unknown }).errcode === SHORT_READ) return true;
  return /malformed|not a database|corrupt|no such (table|column)/i.test(messageOf(error));
}

/** The write-ahead log belongs to the damaged file and must not be replayed into a new one. */
async function setDatabaseAside(path: string): Promise<string> {
  const aside = await setFileAside(path);
  for (const suffix of ['-wal', '-shm']) await setFileAside(`${path}${suffix}`).catch(() => undefined);
  return aside;
}
