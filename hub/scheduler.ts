import type { Agent } from './agents.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskRecord } from './storage.ts';
import { isHeld } from './task-machine.ts';

/** Where tasks that are not over are looked up. */
interface LiveTasks {
  live(taskId: string): LiveTask | undefined;
}

/** Parents above each other that are followed; a task below more has a slot of its own. */
const DEEPEST = 64;

/**
 * Whether the task uses the slot of its parent: a task at work, of the same owner or in the hands of the owner. Tasks that
 * come back to themselves from parent to parent, and those below them, each have their own, also while some of them wait.
 */
export function ridesAlong(task: TaskRecord, tasks: LiveTasks): boolean {
  const parent = parentOf(task, tasks);
  if (parent === undefined || !isHeld(parent.subState) || tasks.live(parent.taskId)?.parked) return false;
  if (parent.owner !== task.owner && parent.agent !== task.owner) return false;
  let above: TaskRecord | undefined = parent;
  for (let level = 1; above !== undefined && level <= DEEPEST; level += 1) above = parentOf(above, tasks);
  return above === undefined;
}

function parentOf({ parent }: TaskRecord, tasks: LiveTasks): TaskRecord | undefined {
  return parent === null ? undefined : tasks.live(parent)?.record;
}

/**
 * Who of the able gets the task: the free one that had it last, else the free one with the least to do; those that let
 * it pass, or fell silent over it, are asked again only when there is nobody else.
 */
export function chooseWorker(able: readonly Agent[], task: LiveTask): Agent | undefined {
  const free = able.filter((agent) => agent.tasks.size < agent.maxConcurrency);
  const willing = free.filter((agent) => !task.passed.has(agent.name));
  const asked = willing.length > 0 ? willing : free;
  return (
    asked.find((agent) => agent.name === task.lastAgent) ?? asked.toSorted((a, b) => a.tasks.size - b.tasks.size)[0]
  );
}
