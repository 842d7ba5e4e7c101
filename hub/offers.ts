import type { TaskPayload } from '../protocol/index.ts';
import { hubFrame } from './answers.ts';
import type { LiveTask } from './live-task.ts';

/** A task as a level-1 worker is offered it. */
export function fullOffer(task: LiveTask, work: TaskPayload, worker: string): string {
  const { taskId, owner, attempt, assignId, silenceMs, checkpoint } = task.record;
  const deadline = task.deadline();
  const payload = {
    ...work,
    lease_ms: silenceMs,
    ...(deadline !== null && { deadline }),
    ...(checkpoint !== null && { checkpoint: JSON.parse(checkpoint) }),
  };
  return hubFrame('task.assign', worker, payload, { from: owner, task_id: taskId, attempt, id: assignId ?? taskId });
}

/** A task as a level-0 worker is told of it: by a message of its owner, so that the answer finds the way back. */
export function plainOffer(task: LiveTask, payload: TaskPayload, worker: string): string {
  const { taskId, owner, attempt } = task.record;
  const { options: _forLevelOne, ...work } = payload;
  return hubFrame('route', worker, work, { from: owner, task_id: taskId, attempt });
}
