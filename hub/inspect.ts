import type { AgentRow, FrameOf, TaskRow } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { hubFrame, splice } from './answers.ts';
import type { Connection } from './connection.ts';
import { type Refused, refused } from './said.ts';
import type { Storage, StoredMessage, TaskRecord } from './storage.ts';
import type { TaskDesk } from './task-desk.ts';
import { publicState } from './task-machine.ts';
import { LISTED, openTasksFirst, tasksAfter } from './task-pages.ts';

/** Bytes of log that one answer carries. */
const PAGE_BYTES = 400 * 1024;

/** A row of the task table as others see it. */
export function toTaskRow(task: TaskRecord): TaskRow {
  return {
    task_id: task.taskId,
    owner: task.owner,
    target: task.target,
    state: publicState(task.subState),
    sub_state: task.subState,
    attempt: task.attempt,
    agent: task.agent,
    reason: task.reason,
    parent: task.parent,
    created: task.created,
    updated: task.updated,
    summary: task.summary,
  };
}

/** A message of the log as the frame it was, with its position and time; always one line, also when it came as more. */
export function logged(message: StoredMessage): string {
  return splice(message.body.toString().replace(rawBreaks, ' '), `"lsn":${message.lsn},"ts":${message.ts}`);
}

/** Within the texts of JSON these are escaped: raw ones stand between tokens. */
const rawBreaks = /[\t\n\r]/g;

/** Answers `who`; resolves, like all answers that may be large, when it is handed to the socket, so that no two are in memory. */
export function answerWho(connection: Connection, frame: FrameOf<'who'>, agents: Agents): Promise<void> {
  const rows = agents.connected().map(toAgentRow);
  connection.send(hubFrame('who', connection.name, { agents: rows }, refOf(frame)));
  return connection.handedOver();
}

/**
 * Answers `tasks`: those that are not over and the newest of the others, or with `after` a page of all. Says why not
 * where there is no task with the id in `after`.
 */
export async function answerTasks(
  connection: Connection,
  frame: FrameOf<'tasks'>,
  { desk, storage }: { readonly desk: TaskDesk; readonly storage: Storage },
): Promise<Refused | undefined> {
  const { prefix = '', after } = frame.payload ?? {};
  await desk.caughtUp();
  const wanted = { filter: { prefix }, limit: LISTED, row: toTaskRow };
  let payload: string;
  if (after === undefined) {
    const { rows, more } = await openTasksFirst(wanted, storage);
    payload = `{"tasks":[${rows.join(',')}]${more ? ',"more":true' : ''}}`;
  } else {
    const before = after === '' ? undefined : await storage.task(after);
    if (after !== '' && before === undefined) return refused('no_such_task', `after: there is no task ${after}`);
    const { rows, next } = await tasksAfter(wanted, before, storage);
    payload = `{"tasks":[${rows.join(',')}]${next === undefined ? '' : `,"next":${JSON.stringify(next)}`}}`;
  }
  connection.send(splice(hubFrame('tasks', connection.name, undefined, refOf(frame)), `"payload":${payload}`));
  await connection.handedOver();
  return undefined;
}

/** Answers `log` with one page. */
export async function answerLog(connection: Connection, frame: FrameOf<'log'>, storage: Storage): Promise<void> {
  const { task_id: taskId, tree, type, after_lsn: after = 0, limit = 200 } = frame.payload;
  const filter = {
    ...(taskId !== undefined && { taskId }),
    ...(tree && { tree }),
    ...(type !== undefined && { type }),
  };
  const page = await storage.tail(filter, after, limit, PAGE_BYTES);
  const frames = `"frames":[${page.messages.map(logged).join(',')}]`;
  const payload = page.next === undefined ? `{${frames}}` : `{${frames},"next":${page.next}}`;
  connection.send(splice(hubFrame('log', connection.name, undefined, refOf(frame)), `"payload":${payload}`));
  await connection.handedOver();
}

/** An agent as others see it. */
export function toAgentRow(agent: Agent): AgentRow {
  return {
    name: agent.name,
    level: agent.level,
    roles: [...agent.roles],
    ...(agent.title !== undefined && { title: agent.title }),
    connected: agent.connectedAt,
    last_seen: agent.lastSeen,
    tasks: [...agent.tasks],
  };
}

function refOf(frame: { readonly id?: string | undefined }): { ref?: string } {
  return frame.id === undefined ? {} : { ref: frame.id };
}
