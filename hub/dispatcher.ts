import type { Clock } from '../base/time.ts';
import { type Agent, type Agents, isGone, targetsOf } from './agents.ts';
import type { LiveTask } from './live-task.ts';
import { chooseWorker, ridesAlong } from './scheduler.ts';
import { TaskLines } from './task-lines.ts';
import { isHeld } from './task-machine.ts';
import type { TaskTable } from './task-table.ts';
import { may } from './tokens.ts';
import type { Turn } from './turn.ts';

/** What the dispatcher works with. */
export interface DispatchParts {
  readonly table: TaskTable;
  readonly agents: Agents;
  readonly turn: Turn;
  readonly clock: Clock;
  /** Root tasks at work at once. */
  readonly concurrency: number;
  /** How long a task waits in vain, ms; 0 = for ever. */
  readonly patience: number;
  /** Offers a task to a free agent; afterwards the agent holds it. */
  readonly offer: (task: LiveTask, agent: Agent) => void;
  /** A task waited too long while nobody was there for it. */
  readonly expired: (task: LiveTask) => void;
}

/** Says which task that waits goes to whom, and when: keeps the lines and the slots, and knows who is free. */
export class Dispatcher {
  readonly #parts: DispatchParts;
  readonly #lines: TaskLines<LiveTask>;
  /** Slots in use: root tasks that are held and not parked; a task with a parent at work uses its parent's. */
  #slots = 0;
  /** Tasks that wait for an answer, by the owner who is to give it. */
  readonly #asking = new Map<string, Set<LiveTask>>();
  #scheduled = false;
  #stopped = false;
  /** Names and roles that somebody is there for; undefined when that may have changed. */
  #served: ReadonlySet<string> | undefined;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#lines = new TaskLines(parts.clock, parts.patience, parts.expired);
  }

  /** Has what is queued offered to whoever is free, at the end of this turn. Called after everything that may have made room or work. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#parts.turn.before(() => {
      this.#scheduled = false;
      if (!this.#stopped) this.#offerQueued();
    });
  }

  /** Does now what is scheduled for the end of this turn. */
  hurry(): void {
    if (this.#scheduled && !this.#stopped) this.#offerQueued();
  }

  /** Like {@link schedule}, after this agent came, went, is given up, or took on other roles. */
  agentChanged(name: string): void {
    this.#served = undefined;
    for (const task of [...(this.#asking.get(name) ?? [])]) this.place(task);
    this.schedule();
  }

  /** Takes note of where a task stands now: it is in a line, has a slot, uses that of its parent, or none of these. */
  place(task: LiveTask): void {
    const { subState, target } = task.record;
    this.#noteQuestion(task);
    const wasParked = task.parked;
    // A question holds its slot only while somebody may answer; with its owner it gets it back, room or not.
    task.parked = subState === 'input_required' && isGone(this.#parts.agents.get(task.record.owner));
    const rides = ridesAlong(task.record, this.#parts.table);
    // Who has a slot keeps it when its parent starts to work, so that two that name each other as parent have one all the same.
    const slot = isHeld(subState) && !task.parked && (task.slot || !rides);
    if (slot !== task.slot) this.#slots += slot ? 1 : -1;
    if (task.slot && !slot) this.schedule();
    task.slot = slot;
    if (subState === 'queued' && target !== '') this.#lines.place(task, rides);
    else this.#lines.remove(task);
    if (task.parked !== wasParked) this.placeChildren(task.record.taskId);
  }

  #noteQuestion(task: LiveTask): void {
    const { owner, subState } = task.record;
    const asking = this.#asking.get(owner);
    if (subState === 'input_required') {
      if (asking === undefined) this.#asking.set(owner, new Set([task]));
      else asking.add(task);
    } else if (asking?.delete(task) && asking.size === 0) this.#asking.delete(owner);
  }

  /** Takes note of where the tasks below one stand, after it was taken up or let go. */
  placeChildren(taskId: string): void {
    for (const child of this.#parts.table.childrenOf(taskId)) this.place(child);
  }

  stop(): void {
    this.#stopped = true;
    this.#lines.stop();
  }

  get #hasRoom(): boolean {
    return this.#slots < this.#parts.concurrency;
  }

  #offerQueued(): void {
    // Many agents that come one after the other, while nothing waits, are not all looked at each time.
    if (this.#lines.size === 0) return;
    if (this.#served === undefined) this.#served = this.#parts.agents.served();
    if (this.#lines.hasReady(this.#hasRoom)) this.#offerToFree();
    this.#lines.judge(this.#served, this.#hasRoom);
  }

  #offerToFree(): void {
    const able = this.#freeWorkers();
    for (;;) {
      const task = this.#lines.first(able.keys(), this.#hasRoom);
      if (task === undefined) return;
      const { target } = task.record;
      const worker = chooseWorker(able.get(target) ?? [], task);
      if (worker === undefined) able.delete(target);
      else this.#parts.offer(task, worker);
    }
  }

  /** Who could take something now, by the names and roles for which something waits. */
  #freeWorkers(): Map<string, Agent[]> {
    const able = new Map<string, Agent[]>();
    for (const agent of this.#parts.agents.all()) {
      const { connection } = agent;
      if (connection === undefined || agent.tasks.size >= agent.maxConcurrency) continue;
      // Who is about to be more than level 0 would lose what it is given as level 0.
      if (connection.greeting && agent.level === 0) continue;
      if (!may(agent.grant, 'work')) continue;
      for (const target of targetsOf(agent)) {
        if (!this.#lines.has(target)) continue;
        const others = able.get(target);
        if (others === undefined) able.set(target, [agent]);
        else others.push(agent);
      }
    }
    return able;
  }
}
