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
    summary: row.summary as string | null,
    created: row.created as number,
    updated: row.updated as number,
  };
}

const columns = taskColumns.join(', ');

/** One row of the task table. */
export function readTask(prepare: Prepare, taskId: string): TaskRecord | undefined {
  const row = prepare(`SELECT ${columns} FROM task WHERE task_id = ?`).get(taskId);
  return row === undefined ? undefined : toTask(row as never);
}

/** What the last attempt of a task left. */
export function readCheckpoint(prepare: Prepare, taskId: string): string | undefined {
  const row = prepare('SELECT value FROM checkpoint WHERE task_id = ?').get(taskId);
  return (row as { value: string } | undefined)?.value;
}

const openStates: readonly TaskSubState[] = ['queued', 'offered', 'working', 'input_required', 'cancelling'];

/** Rows of the task table, oldest first. */
export function readTaskTable(prepare: Prepare, filter: TaskFilter = {}): TaskRecord[] {
  const { open = false, states, newest, first } = filter;
  const wanted = open ? openStates.filter((state) => states?.includes(state) ?? true) : states;
  if (wanted === undefined) return readRows(prepare, filter);
  // One state after the other: each has its part of the index in the order that is asked for.
  const found = wanted.flatMap((state) => readRows(prepare, filter, state)).sort(byAge);
  return newest === undefined ? found.slice(0, first) : found.slice(Math.max(0, found.length - newest));
}

function readRows(
  prepare: Prepare,
  { prefix = '', newest, before, after, first }: TaskFilter,
  state?: TaskSubState,
): TaskRecord[] {
  const conditions = ['1'];
  const values: (string | number)[] = [];
  const only = (condition: string, ...value: (string | number)[]) => {
    conditions.push(condition);
    values.push(...value);
  };
  if (state !== undefined) only('sub_state = ?', state);
  if (after !== undefined) only('(created, task_id) > (?, ?)', after.created, after.taskId);
  if (before !== undefined) only('(created, task_id) < (?, ?)', before.created, before.taskId);
  if (prefix !== '') only('substr(task_id, 1, ?) = ?', [...prefix].length, prefix);
  const order = newest === undefined ? 'created, task_id' : 'created DESC, task_id DESC';
  const rows = prepare(`SELECT ${columns} FROM task WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`)
    .all(...values, newest ?? first ?? -1)
    .map((row) => toTask(row as never));
  return newest === undefined ? rows : rows.reverse();
}

/** The order of the table; ids are compared as SQLite does it, by their bytes. */
function byAge(one: TaskRecord, other: TaskRecord): number {
  return one.created - other.created || Buffer.compare(Buffer.from(one.taskId), Buffer.from(other.taskId));
}
