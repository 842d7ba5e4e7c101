import { access } from 'node:fs/promises';
import { AppError } from '../base/errors.ts';
import { type Database, openDatabase } from '../base/sqlite.ts';
import { type Envelope, envelope, type TaskRow } from '../protocol/index.ts';
import { logged, toTaskRow } from './inspect.ts';
import { readPage, readTaskTable } from './queries.ts';
import type { LogFilter } from './storage.ts';

const PAGE = { limit: 500, maxBytes: 4 * 1024 * 1024 };

/** Reads the frames of a log, live or closed, in order; the file is not written to. */
export async function* readLog(
  path: string,
  filter: LogFilter & { readonly afterLsn?: number } = {},
): AsyncGenerator<Envelope> {
  const database = await openReadOnly(path);
  try {
    const { end } = database.prepare('SELECT coalesce(max(lsn), 0) AS "end" FROM log').get() as { end: number };
    let next: number | undefined = filter.afterLsn ?? 0;
    while (next !== undefined) {
      const page = readPage(database, filter, next, { ...PAGE, end });
      for (const message of page.messages) yield envelope.parse(JSON.parse(logged(message)));
      next = page.next;
    }
  } finally {
    database.close();
  }
}

/** How many messages a log holds. */
export async function countLog(path: string): Promise<number> {
  const database = await openReadOnly(path);
  try {
    return (database.prepare('SELECT count(*) AS count FROM log').get() as { count: number }).count;
  } finally {
    database.close();
  }
}

/** The task table of a hub, oldest first. */
export async function readTasks(path: string): Promise<TaskRow[]> {
  const database = await openReadOnly(path);
  try {
    return readTaskTable(database).map(toTaskRow);
  } finally {
    database.close();
  }
}

async function openReadOnly(path: string): Promise<Database> {
  await access(path).catch((cause: unknown) => {
    throw new AppError('not_found', `there is no log at ${path}`, { cause });
  });
  return openDatabase(path, { readOnly: true });
}
