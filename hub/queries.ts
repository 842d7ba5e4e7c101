import type { Database } from '../base/sqlite.ts';
import { type LogColumns, toMessage, toTask } from './rows.ts';
import type { LogFilter, LogPage, StoredMessage, TaskFilter, TaskRecord } from './storage.ts';

/** Rows of the log that one read looks at, so that no read holds the thread for long. */
const SCAN = 20_000;

/** Rows of the task table, oldest first. */
export function readTaskTable(
  database: Database,
  { prefix = '', open = false, newest = -1 }: TaskFilter = {},
): TaskRecord[] {
  const over = "sub_state IN ('done', 'failed', 'cancelled', 'dead')";
  return database
    .prepare(
      `SELECT * FROM task WHERE substr(task_id, 1, ?) = ?${open ? ` AND NOT ${over}` : ''}
       ORDER BY created DESC, task_id DESC LIMIT ?`,
    )
    .all(prefix.length, prefix, newest)
    .map((row) => toTask(row as never))
    .reverse();
}

/** The newest messages, in log order. */
export function readLatest(database: Database, filter: LogFilter, count: number): StoredMessage[] {
  const { where, values } = conditions(filter);
  return database
    .prepare(`SELECT * FROM log WHERE lsn > 0${where} ORDER BY lsn DESC LIMIT ?`)
    .all(...values, count)
    .map((row) => toMessage(row as unknown as LogColumns))
    .reverse();
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
    if (messages.length === bounds.limit || (messages.length > 0 && message.body.length > room)) {
      return { messages, next: messages.at(-1)?.lsn ?? afterLsn };
    }
    room -= message.body.length;
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
