import { access } from 'node:fs/promises';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { AppError, messageOf } from '../base/errors.ts';
import { type Database, openDatabase } from '../base/sqlite.ts';
import { type Envelope, envelope, type TaskRow } from '../protocol/index.ts';
import { type DeadRow, toDeadRow } from './dead-letters.ts';
import { toTaskRow } from './inspect.ts';
import { readableLog } from './sqlite/old-log.ts';
import { schemaVersion } from './sqlite/schema.ts';
import { statements } from './sqlite/statements.ts';
import { readTaskTable } from './sqlite/task-rows.ts';
import type { LogFilter, LogPage } from './storage.ts';

const PAGE = { limit: 500, maxBytes: 4 * 1024 * 1024 };

/** A piece of a log by its positions: after `afterLsn`, up to and with `uptoLsn`; default all of it. */
export type LogRange = LogFilter & { readonly afterLsn?: number; readonly uptoLsn?: number };

/** A log that is read while its hub writes, or after; nothing is written to it. */
export interface LogReader {
  /** The frames in order, up to the end of the log at the time of the call. */
  frames(range?: LogRange): AsyncGenerator<Envelope>;
  /** The same, the newest first. */
  newestFirst(range?: LogRange): AsyncGenerator<Envelope>;
  /** Position of the newest message; 0 = there is none. */
  last(): number;
  /** Position of the newest message committed before `ts`, ms since epoch; 0 = there is none. */
  before(ts: number): number;
  /** The task table, oldest first. */
  tasks(): TaskRow[];
  /** Messages that were never handed over, and not dropped since. */
  dead(): Generator<DeadRow>;
  close(): void;
}

/** Opens the log of a hub; throws `AppError('not_found')` when there is none. */
export async function openLog(path: string): Promise<LogReader> {
  const database = await openReadOnly(path);
  const stored = readableLog(database);
  const last = () => stored.last();
  return {
    last,
    before: (ts) => stored.positionAt(ts - 1),
    async *frames({ afterLsn, uptoLsn = Number.POSITIVE_INFINITY, ...filter } = {}) {
      const end = Math.min(uptoLsn, last());
      let next: number | undefined = afterLsn ?? 0;
      while (next !== undefined && next < end) {
        const page: LogPage = stored.page(filter, next, { ...PAGE, end });
        yield* framesOf(page);
        next = page.next;
        await othersTurn();
      }
    },
    async *newestFirst({ afterLsn = 0, uptoLsn = Number.POSITIVE_INFINITY, ...filter } = {}) {
      let next: number | undefined = Math.min(uptoLsn, last()) + 1;
      while (next !== undefined && next > afterLsn + 1) {
        const page: LogPage = stored.pageBack(filter, next, PAGE.limit, PAGE.maxBytes);
        yield* framesOf({ messages: page.messages.filter(({ lsn }) => lsn > afterLsn) });
        next = page.next;
        await othersTurn();
      }
    },
    tasks: () => readTaskTable(statements(database)).map(toTaskRow),
    *dead() {
      for (let after = 0; ; ) {
        const page = stored.deadLetters(after, PAGE.limit);
        for (const letter of page) yield toDeadRow(letter);
        const last = page.at(-1);
        if (last === undefined) return;
        after = last.lsn;
      }
    },
    close: () => database.close(),
  };
}

function* framesOf({ messages }: LogPage): Generator<Envelope> {
  for (const { body, lsn, ts } of messages) {
    const frame = Object.assign(JSON.parse(body.toString()) as object, { lsn, ts });
    // What the hub logged is a frame; to go by its schema takes longer than all the rest of reading it.
    yield isPlain(frame) ? frame : envelope.parse(frame);
  }
}

function isPlain(frame: object): frame is Envelope {
  const { type, from, to, task_id: taskId } = frame as Partial<Record<keyof Envelope, unknown>>;
  return [type, from, to, taskId].every((text) => typeof text === 'string');
}

/** Reads the frames of a log, live or closed, in order; the file is not written to. */
export async function* readLog(path: string, range: LogRange = {}): AsyncGenerator<Envelope> {
  const log = await openLog(path);
  try {
    yield* log.frames(range);
  } finally {
    log.close();
  }
}

/** How many messages a log holds. */
export async function countLog(path: string): Promise<number> {
  const database = await openReadOnly(path);
  try {
    return readableLog(database).count();
  } finally {
    database.close();
  }
}

/** The task table of a hub, oldest first. */
export async function readTasks(path: string): Promise<TaskRow[]> {
  const log = await openLog(path);
  try {
    return log.tasks();
  } finally {
    log.close();
  }
}

async function openReadOnly(path: string): Promise<Database> {
  await access(path).catch((cause: unknown) => {
    throw new AppError('not_found', `there is no log at ${path}`, { cause });
  });
  const database = await openDatabase(path, { readOnly: true });
  // while the hub takes up what a crash left, its log is closed to readers for a moment
  database.exec('PRAGMA busy_timeout = 2000');
  try {
    mustBeReadable(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Logs of earlier versions are read as they are. */
function mustBeReadable(database: Database, path: string): void {
  let version: number;
  try {
    ({ version } = database.prepare('SELECT user_version AS version FROM pragma_user_version').get() as never);
  } catch (cause) {
    throw new AppError('damaged_state', `the log at ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (version === 0) throw new AppError('not_found', `there is no log at ${path} yet; its hub is starting`);
  if (version <= schemaVersion) return;
  throw new AppError('usage', `the log at ${path} was written by a newer version of npc-crew; use that one`);
}
