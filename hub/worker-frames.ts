import type { TaskResultPayload } from '../protocol/index.ts';
import { hubFrame } from './answers.ts';
import type { LiveTask } from './live-task.ts';
import { fullWords } from './message-routes.ts';
import { wasHolder } from './past-holders.ts';
import { isFull } from './room.ts';
import type { Stamp } from './row.ts';
import { type Outcome, type Refused, refused, type Said, stateWords, type TaskParts, toOwner } from './said.ts';
import type { TaskRecord } from './storage.ts';
import { isHeld } from './task-machine.ts';
import { may } from './tokens.ts';

type WorkType = 'task.accept' | 'task.decline' | 'task.progress' | 'task.input' | 'task.result' | 'task.release';

/** What a worker says of the attempt it holds. Anything it says accepts an offer, and is a sign of life. */
export function work(parts: TaskParts, said: Said<WorkType>): Outcome {
  const { desk, post } = parts;
  const { agent, decoded, frame } = said;
  const record = desk.table.find(frame.task_id);
  if (record === undefined) return refused('no_such_task', 'there is no such task');
  if (frame.attempt === undefined)
    return refused('bad_frame', 'attempt is missing; repeat the number that task.assign gave');
  const task = desk.table.live(frame.task_id);
  if (task === undefined || !holds(said, record) || !isHeld(record.subState)) return stale(parts, said, record);
  if (frame.type === 'task.input' && isFull(parts.agents.get(record.owner), parts.limits)) {
    task.sign();
    return refused('mailbox_full', fullWords(record.owner));
  }
  task.sign();
  if (frame.type === 'task.decline' || frame.type === 'task.release') {
    post.relay(agent.name, decoded, { to: record.owner });
    desk.release(task, frame.payload.reason ?? `${agent.name} gave it back`);
    return undefined;
  }
  if (frame.type === 'task.accept') post.relay(agent.name, decoded, { to: record.owner });
  const accepted = desk.move(task, { kind: 'accept' });
  if (accepted !== undefined) desk.tellOwner(accepted, `accepted by ${agent.name}`);
  switch (frame.type) {
    case 'task.accept':
      return undefined;
    case 'task.progress':
      return progress(parts, { ...said, frame }, task);
    case 'task.input':
      return ask(parts, said, task);
    case 'task.result':
      return finish(parts, said, task, frame.payload);
    default:
      frame satisfies never;
      return undefined;
  }
}

/** A known task's events come from who holds it, or its owner; those of an unknown task (a run's own) from who may give tasks. */
export function event({ desk, post }: TaskParts, said: Said<'task.event'>): Refused | undefined {
  const { agent, decoded, frame } = said;
  const record = desk.table.find(frame.task_id);
  if (record === undefined) {
    if (!may(agent.grant, 'assign')) return refused('no_such_task', 'there is no such task');
  } else if (record.owner !== agent.name) {
    if (record.agent !== agent.name) return refused('stale_attempt', staleWords(frame));
    if (frame.attempt !== undefined && frame.attempt !== record.attempt) {
      return refused(
        'stale_attempt',
        `attempt ${frame.attempt} of ${frame.task_id} is over; attempt ${record.attempt} is yours now`,
      );
    }
    desk.table.live(frame.task_id)?.sign();
  }
  post.relay(agent.name, decoded);
  return undefined;
}

/** Ends a task with a result and makes its slot free, in one transaction. */
export function finish(
  { desk, post }: TaskParts,
  { agent, decoded }: Said,
  task: LiveTask,
  { status, summary }: TaskResultPayload,
  stamp: Stamp = {},
): undefined {
  const { record } = task;
  const cancelling = record.subState === 'cancelling';
  const id = post.relay(agent.name, decoded, { ...stamp, ...(cancelling ? { to: record.owner } : toOwner(record)) });
  const next = desk.move(task, { kind: 'result', status, summary, id });
  if (cancelling && next !== undefined) desk.tellOwner(next, next.reason ?? 'cancelled');
  desk.schedule();
}

function progress({ desk, post, turn }: TaskParts, said: Said<'task.progress'>, task: LiveTask): undefined {
  const { agent, connection, decoded, frame } = said;
  const { checkpoint, busy_until: busyUntil } = frame.payload;
  post.relay(agent.name, decoded, { to: task.record.owner });
  if (checkpoint !== undefined) desk.keepCheckpoint(task, checkpoint);
  const until = task.sign(busyUntil);
  const about = {
    task_id: frame.task_id,
    attempt: task.record.attempt,
    ...(frame.id !== undefined && { ref: frame.id }),
  };
  turn.after(() => connection.send(hubFrame('lease', agent.name, { until }, about)));
}

function ask({ desk, post }: TaskParts, { agent, decoded }: Said, task: LiveTask): Refused | undefined {
  const next = desk.move(task, { kind: 'ask' });
  if (next === undefined)
    return refused('bad_state', `${task.record.taskId} waits for an answer already, or is being cancelled`);
  task.question = post.relay(agent.name, decoded, toOwner(next));
  desk.tellOwner(next, `${agent.name} asks`);
  return undefined;
}

/** What comes from an attempt that is over changes nothing; a late result is kept in the log, under another name, and its owner told. */
function stale(parts: TaskParts, said: Said<WorkType>, record: TaskRecord): Outcome {
  const { connection, frame } = said;
  if (frame.type === 'task.result' && frame.id !== undefined && frame.id === record.resultId) {
    // The result that ended the task, repeated so late that its id is not remembered.
    connection.owe(frame.id);
    return undefined;
  }
  if (holds(said, record)) return refused('bad_state', stateWords(record));
  if (frame.type === 'task.result') return staleResult(parts, said, record);
  return refused('stale_attempt', staleWords(frame));
}

/**
 * Logs a result of an attempt that is over under a name of its own, and tells the owner of the task. That of somebody who never
 * had the attempt is a stranger's, and kept nowhere.
 */
export async function staleResult(
  parts: TaskParts,
  { agent, decoded, frame }: Said,
  record: TaskRecord,
  stamp: Stamp = {},
): Promise<Refused> {
  const { desk, post, turn } = parts;
  const answer = refused('stale_attempt', staleWords(frame));
  if (!(await wasHolder(parts, agent.name, frame.attempt, record))) return answer;
  turn.metrics.staleResults += 1;
  post.relay(agent.name, decoded, { ...stamp, type: 'stale_result', to: record.owner });
  const now = desk.table.find(record.taskId) ?? record;
  desk.tellOwner(now, `stale result of ${attemptNamed(frame.attempt)} by ${agent.name}`, false);
  return answer;
}

/** Says to a worker that its attempt is over, or never was its own; level 0 gives no number. */
export function staleWords({ attempt, task_id: taskId }: Pick<Said['frame'], 'attempt' | 'task_id'>): string {
  const what = attempt === undefined ? taskId : `attempt ${attempt} of ${taskId}`;
  return `${what} is not yours, or not any more; stop working on it`;
}

function attemptNamed(attempt: number | undefined): string {
  return attempt === undefined ? 'an earlier attempt' : `attempt ${attempt}`;
}

function holds({ agent, frame }: Said<WorkType>, record: TaskRecord): boolean {
  return record.agent === agent.name && record.attempt === frame.attempt;
}
