import type { Log } from '../base/log.ts';
import type { TaskPayload } from '../protocol/index.ts';
import type { Agent } from './agents.ts';
import { hubFrame } from './answers.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskPayloads } from './task-payloads.ts';
import type { Turn } from './turn.ts';

/** What offers are told with. */
interface OfferParts {
  readonly turn: Turn;
  readonly payloads: TaskPayloads;
  readonly log: Log;
  readonly unreadable: () => void;
}

/**
 * Tells an agent, once this turn is durable, of the task that it was just offered; not when the offer is void by then. What is not
 * in memory, as what an attempt left never is, is read for it; `unreadable` hears that what the task is about is lost.
 */
export function tellWorker(
  task: LiveTask,
  { name, level, connection }: Agent,
  { turn, payloads, log, unreadable }: OfferParts,
): void {
  const { record } = task;
  const payload = payloads.get(record.taskId);
  // Only what was worked on has left something.
  const mayGoOn = level === 1 && record.attempt > 1;
  const word = (work: TaskPayload, left?: unknown) =>
    level === 0 ? plainOffer(task, work, name) : fullOffer(task, work, name, left);
  const frame = payload === undefined || mayGoOn ? undefined : word(payload);
  turn.after(() => {
    if (frame !== undefined) {
      connection?.send(frame);
      return;
    }
    Promise.all([payload ?? payloads.read(record), mayGoOn ? payloads.left(record.taskId) : undefined]).then(
      ([work, left]) => {
        const { attempt, agent } = task.record;
        if (attempt !== record.attempt || agent !== name) return;
        if (work === undefined) unreadable();
        else connection?.send(word(work, left === undefined ? undefined : checkpointOf(left, task, log)));
      },
      // The clocks of the offer go on.
      (error: unknown) => log.error({ err: error, task: record.taskId }, 'what a task is about cannot be read'),
    );
  });
}

/** What was left, unless it is not what was written any more: then it is begun anew. */
function checkpointOf(left: string, { record }: LiveTask, log: Log): unknown {
  try {
    return JSON.parse(left);
  } catch {
    log.error({ task: record.taskId }, 'what the last attempt left cannot be read, its bytes are damaged');
    return undefined;
  }
}

/** A task as a level-1 worker is offered it. */
function fullOffer(task: LiveTask, work: TaskPayload, worker: string, left: unknown): string {
  const { taskId, owner, attempt, assignId, silenceMs } = task.record;
  const deadline = task.deadline();
  const payload = {
    ...work,
    lease_ms: silenceMs,
    ...(deadline !== null && { deadline }),
    ...(left !== undefined && { checkpoint: left }),
  };
  return hubFrame('task.assign', worker, payload, { from: owner, task_id: taskId, attempt, id: assignId ?? taskId });
}

/** A task as a level-0 worker is told of it: by a message of its owner, so that the answer finds the way back. */
function plainOffer(task: LiveTask, payload: TaskPayload, worker: string): string {
  const { taskId, owner, attempt } = task.record;
  const { options: _forLevelOne, ...work } = payload;
  return hubFrame('route', worker, work, { from: owner, task_id: taskId, attempt });
}
