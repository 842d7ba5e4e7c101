import type { Agent } from './agents.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskRecord } from './storage.ts';
import { isHeld } from './task-machine.ts';

/** How many root tasks may be held at once; a task with a parent at work uses its parent's slot. */
export class Slots {
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  hasRoom(task: TaskRecord, live: ReadonlyMap<string, LiveTask>): boolean {
    if (ridesAlong(task, live)) return true;
    let held = 0;
    for (const { record } of live.values()) {
      if (isHeld(record.subState) && !ridesAlong(record, live)) held += 1;
    }
    return held < this.#count;
  }
}

function ridesAlong(task: TaskRecord, live: ReadonlyMap<string, LiveTask>): boolean {
  const parent = task.parent === null ? undefined : live.get(task.parent);
  return parent !== undefined && isHeld(parent.record.subState);
}

/** Who of the able gets the task: the free one that had it last, else the free one with the least to do that did not let it pass. */
export function chooseWorker(able: readonly Agent[], task: LiveTask): Agent | undefined {
  const free = able.filter((agent) => agent.tasks.size < agent.maxConcurrency);
  const willing = free.filter((agent) => !task.passed.has(agent.name));
  if (willing.length === 0) {
    task.passed.clear();
    return free[0];
  }
  return (
    willing.find((agent) => agent.name === task.lastAgent) ?? willing.sort((a, b) => a.tasks.size - b.tasks.size)[0]
  );
}
