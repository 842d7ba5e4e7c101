import type { TaskSubState } from '../../protocol/index.ts';
import type { TaskFilter, TaskRecord } from '../storage.ts';
import type { Prepare } from './statements.ts';

/** Columns of `task` in the order of {@link taskValues}. */
export const taskColumns = [
  'task_id',
  'owner',
  'target',
  'sub_state',
  'attempt',
  'losses',
  'agent',
  'session',
  'reason',
  'parent',
  'priority',
  'max_attempts',
  'silence_ms',
  'attempt_ms',
  'assign_id',
  'result_id',
  'deadline',
  'checkpoint',
  'summary',
  'created',
  'updated',
] as const;

type TaskColumns = Record<(typeof taskColumns)[number], string | number | null>;

export function taskValues(task: TaskRecord): (string | number | null)[] {
  return [
    task.taskId,
    task.owner,
    task.target,
    task.subState,
    task.attempt,
    task.losses,
    task.agent,
    task.session,
    task.reason,
    task.parent,
    task.priority,
    task.maxAttempts,
    task.silenceMs,
    task.attemptMs,
    task.assignId,
    task.resultId,
    task.deadline,
    task.checkpoint,
    task.summary,
    task.created,
    task.updated,
  ];
}

function toTask(row: TaskColumns): TaskRecord {
  return {
    taskId: row.task_id as string,
    owner: row.owner as string,
    target: row.target as string,
    subState: row.sub_state as TaskSubState,
    attempt: row.attempt as number,
    losses: row.losses as number,
    agent: row.agent as string | null,
    session: row.session as string | null,
    reason: row.reason as string | null,
    parent: row.parent as string | null,
    priority: row.priority as number,
    maxAttempts: row.max_attempts as number,
    silenceMs: row.silence_ms as number,
    attemptMs: row.attempt_ms as number,
    assignId: row.assign_id as string | null,
    resultId: row.result_id as string | null,
    deadline: row.deadline as number | null,
    checkpoint: row.checkpoint as string | null,
    summary: row.summary as string | null,
    created: row.created as number,
    updated: row.updated as number,
  };
}

/** One row of the task table. */
export function readTask(prepare: Prepare, taskId: string): TaskRecord | undefined {
  const row = prepare('SELECT * FROM task WHERE task_id = ?').get(taskId);
  return row === undefined ? undefined : toTask(row as never);
}

/** Rows of the task table, oldest first. */
export function readTaskTable(
  prepare: Prepare,
  { prefix = '', open = false, newest, after, first = -1 }: TaskFilter = {},
): TaskRecord[] {
  const over = "sub_state IN ('done', 'failed', 'cancelled', 'dead')";
  const { created, taskId } = after ?? { created: -1, taskId: '' };
  const order = newest === undefined ? 'created, task_id' : 'created DESC, task_id DESC';
  const rows = prepare(
    `SELECT * FROM task WHERE (created, task_id) > (?, ?) AND substr(task_id, 1, ?) = ?${open ? ` AND NOT ${over}` : ''}
     ORDER BY ${order} LIMIT ?`,
  )
    .all(created, taskId, [...prefix].length, prefix, newest ?? first)
    .map((row) => toTask(row as never));
  return newest === undefined ? rows : rows.reverse();
}
