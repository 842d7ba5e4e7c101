import { pauses } from './pauses.ts';
import type { Storage, TaskFilter, TaskRecord } from './storage.ts';

/** Rows that are read from the store at once, and about the bytes of one answer. */
const PAGE = 200;
const ANSWER_BYTES = 2 * 1024 * 1024;

/** Rows of the task table that one answer has, unless it is asked for less or more. */
export const LISTED = 1000;

/** Which rows of the table are asked for, and how many. */
export interface Wanted {
  readonly filter: TaskFilter;
  readonly limit: number;
  /** A row as it is told; undefined leaves it out. */
  readonly row: (record: TaskRecord) => object | undefined;
}

/** A row as JSON. */
interface Entry {
  readonly record: Pick<TaskRecord, 'taskId' | 'created'>;
  readonly text: string;
}

/** A list of tasks, as JSON, oldest first. */
export interface TaskList {
  readonly rows: readonly string[];
  /** Whether there are others before them. */
  readonly more: boolean;
}

/** The rows made last. Others have their turn meanwhile. */
export async function newestTasks(wanted: Wanted, storage: Pick<Storage, 'tasks'>): Promise<TaskList> {
  const { entries, more } = await newest(wanted, storage, ANSWER_BYTES);
  return { rows: entries.reverse().map(({ text }) => text), more };
}

/** As many tasks that are not over as there may be in a list, and where there is room left the others made last. */
export async function openTasksFirst(wanted: Wanted, storage: Pick<Storage, 'tasks'>): Promise<TaskList> {
  const { filter, limit, row } = wanted;
  const open = await newest({ ...wanted, filter: { ...filter, open: true } }, storage, ANSWER_BYTES);
  if (open.more) return { rows: open.entries.reverse().map(({ text }) => text), more: true };
  const ids = new Set(open.entries.map(({ record }) => record.taskId));
  const rest = await newest(
    {
      filter,
      limit: limit - ids.size,
      row: (record) => (ids.has(record.taskId) ? undefined : row(record)),
    },
    storage,
    ANSWER_BYTES - open.bytes,
  );
  const all = [...open.entries, ...rest.entries].sort(
    ({ record: a }, { record: b }) => a.created - b.created || (a.taskId < b.taskId ? -1 : 1),
  );
  return { rows: all.map(({ text }) => text), more: rest.more };
}

/** The newest first. */
async function newest(
  { filter, limit, row }: Wanted,
  storage: Pick<Storage, 'tasks'>,
  room: number,
): Promise<{ entries: Entry[]; bytes: number; more: boolean }> {
  const entries: Entry[] = [];
  const pause = pauses();
  let bytes = 0;
  let before: TaskRecord | undefined;
  for (;;) {
    const page = await storage.tasks({ ...filter, newest: PAGE, ...(before && { before }) });
    for (const record of page.toReversed()) {
      const told = row(record);
      await pause();
      if (told === undefined) continue;
      if (entries.length >= limit || bytes >= room) return { entries, bytes, more: true };
      const text = JSON.stringify(told);
      const { taskId, created } = record;
      entries.push({ record: { taskId, created }, text });
      bytes += text.length;
    }
    if (page.length < PAGE) return { entries, bytes, more: false };
    before = page[0];
  }
}

/** The rows after one, or the first ones, as JSON; `next` is the id of the last row looked at, where there may be more. */
export async function tasksAfter(
  { filter, limit, row }: Wanted,
  first: TaskRecord | undefined,
  storage: Pick<Storage, 'tasks'>,
): Promise<{ rows: string[]; next?: string }> {
  const rows: string[] = [];
  const pause = pauses();
  let [left, room] = [limit, ANSWER_BYTES];
  let after = first;
  while (left > 0 && room > 0) {
    const size = Math.min(PAGE, left);
    const page = await storage.tasks({ ...filter, first: size, ...(after && { after }) });
    for (const record of page) {
      const told = row(record);
      await pause();
      if (told === undefined) continue;
      const text = JSON.stringify(told);
      rows.push(text);
      room -= text.length;
    }
    if (page.length < size) return { rows };
    left -= size;
    after = page.at(-1);
  }
  return { rows, ...(after && { next: after.taskId }) };
}
