import type { StoredMessage, TaskRecord } from '../../hub/storage.ts';
import { isHeld, isOver } from '../../hub/task-machine.ts';
import type { TaskSubState } from '../../protocol/index.ts';
import type { Remains } from './remains.ts';

/** What became of the tasks. */
export interface TaskFindings {
  readonly tasks: number;
  readonly over: number;
  /** Results that were applied, and such that came too late. */
  readonly results: number;
  readonly stale: number;
}

/** Where the log says that a task stands. */
interface Fold {
  subState: TaskSubState;
  attempt: number;
  agent: string | null;
}

/** Every task is over or really at work, and what the table says of it is what its frames tell. */
export function checkTasks({ messages, tasks, lives }: Remains, faults: string[]): TaskFindings {
  const frames = new Map<string, StoredMessage[]>();
  for (const message of messages) {
    if (message.taskId === '') continue;
    const own = frames.get(message.taskId);
    if (own === undefined) frames.set(message.taskId, [message]);
    else own.push(message);
  }
  for (const task of tasks) {
    checkTask(task, frames.get(task.taskId) ?? [], faults);
    const worker = task.agent === null ? undefined : lives.get(task.agent);
    if (isOver(task.subState) || (isHeld(task.subState) && worker !== undefined)) continue;
    if (task.target === '') continue;
    faults.push(`task ${task.taskId} is left ${task.subState}, attempt ${task.attempt}, ${task.reason}`);
  }
  for (const taskId of frames.keys()) {
    if (!tasks.some((task) => task.taskId === taskId)) faults.push(`task ${taskId} has frames and no row`);
  }
  return {
    tasks: tasks.length,
    over: tasks.filter(({ subState }) => isOver(subState)).length,
    results: messages.filter(({ type }) => type === 'task.result').length,
    stale: messages.filter(({ type }) => type === 'stale_result').length,
  };
}

function checkTask(task: TaskRecord, frames: readonly StoredMessage[], faults: string[]): void {
  const { taskId } = task;
  const fault = (message: string): void => void faults.push(`task ${taskId}: ${message}`);
  const fold: Fold = { subState: 'queued', attempt: 0, agent: null };
  const accepted = new Map<number, string>();
  let result: StoredMessage | undefined;
  for (const frame of frames) {
    if (isOver(fold.subState) && changes(frame.type))
      fault(`${frame.type} at ${frame.lsn} after it was ${fold.subState}`);
    switch (frame.type) {
      case 'task.status':
        follow(fold, frame, fault);
        break;
      case 'task.accept':
        if ((accepted.get(frame.attempt ?? 0) ?? frame.from) !== frame.from) {
          fault(`attempt ${frame.attempt} was taken by ${accepted.get(frame.attempt ?? 0)} and by ${frame.from}`);
        }
        accepted.set(frame.attempt ?? 0, frame.from);
        break;
      case 'task.result':
        if (result !== undefined) fault(`two results, at ${result.lsn} and ${frame.lsn}`);
        result = frame;
        if (frame.attempt !== fold.attempt || frame.from !== fold.agent) {
          fault(
            `the result at ${frame.lsn} is of ${frame.from}, attempt ${frame.attempt}; at work was ${fold.agent}, attempt ${fold.attempt}`,
          );
        }
        break;
      case 'stale_result':
        if (frame.attempt === fold.attempt && frame.from === fold.agent && isHeld(fold.subState)) {
          fault(`the result at ${frame.lsn} was good and is logged as stale`);
        }
        break;
      default:
        break;
    }
  }
  const ended = task.subState === 'done' || (task.subState === 'failed' && task.resultId !== null);
  if (ended && result?.id !== task.resultId) fault(`ended by result ${task.resultId}, in the log is ${result?.id}`);
  if (ended && result?.attempt !== task.attempt)
    fault(`ended in attempt ${task.attempt}, by one of ${result?.attempt}`);
  if (!ended && task.subState !== 'cancelled' && result !== undefined) {
    fault(`a result is in the log at ${result.lsn}, and it is ${task.subState}`);
  }
}

function changes(type: string): boolean {
  return type === 'task.accept' || type === 'task.result' || type === 'task.input' || type === 'task.answer';
}

/** The hub tells of every change that the owner did not cause itself. */
function follow(fold: Fold, { from, lsn, body }: StoredMessage, fault: (message: string) => void): void {
  if (from !== 'hub') fault(`a status at ${lsn} is not of the hub`);
  const { payload } = JSON.parse(body.toString()) as {
    payload: { sub_state: TaskSubState; attempt: number; agent: string | null };
  };
  fold.subState = payload.sub_state;
  fold.attempt = payload.attempt;
  fold.agent = payload.agent;
}
