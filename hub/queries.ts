import type { Database } from '../base/sqlite.ts';
import { type LogColumns, toMessage, toTask } from './rows.ts';
import type { LogFilter, LogPage, TaskRecord } from './storage.ts';

/** Rows of the log that one read looks at, so that no read holds the thread for long. */
const SCAN = 20_000;

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
