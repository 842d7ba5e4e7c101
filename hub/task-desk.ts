import { backoff, type Clock } from '../base/time.ts';
import type { TaskPayload } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { FinishedTasks } from './finished-tasks.ts';
import { freshTask } from './fresh-task.ts';
import { LiveTask } from './live-task.ts';
import { fullOffer, plainOffer } from './offers.ts';
import type { HubClocks } from './options.ts';
import type { Post } from './post.ts';
import { chooseWorker, heldSlots, inLine, ridesAlong } from './scheduler.ts';
import type { Storage, TaskRecord } from './storage.ts';
import { isHeld, isOver, publicState, step, type TaskInput } from './task-machine.ts';
import { inWords } from './time-words.ts';
import type { Turn } from './turn.ts';

/** What the desk works with. */
export interface DeskParts {
  readonly turn: Turn;
  readonly post: Post;
  readonly agents: Agents;
  readonly storage: Pick<Storage, 'task' | 'tasks'>;
  /** Root tasks at work at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly clocks: HubClocks;
}

/** Rows that one listing has at most, beside those of tasks that are not over. */
const LISTED = 1000;

/** Holds the task table: moves tasks by the machine, writes each move with its log rows in one transaction, offers queued ones. */
export class TaskDesk {
  readonly #parts: DeskParts;
  readonly #live = new Map<string, LiveTask>();
  readonly #over = new FinishedTasks();

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** The row of a task, over or not; {@link recall} comes before when it is not {@link known}. */
  find(taskId: string): TaskRecord | undefined {
    return this.#live.get(taskId)?.record ?? this.#over.get(taskId);
  }

  /** Whether {@link find} can tell: of most tasks that are over only the store knows. */
  known(taskId: string): boolean {
    return this.#live.has(taskId) || this.#over.has(taskId);
  }

  /** Asks the store about a task. */
  async recall(taskId: string): Promise<void> {
    const record = await this.#parts.storage.task(taskId);
    if (!this.known(taskId)) this.#over.add(taskId, record);
  }

  /** The task while it is not over. */
  live(taskId: string): LiveTask | undefined {
    return this.#live.get(taskId);
  }

  /** Whether a name owns a task that is not over. */
  concerns(name: string): boolean {
    for (const { record } of this.#live.values()) if (record.owner === name) return true;
    return false;
  }

  /** The tasks that are not over. */
  open(): Iterable<LiveTask> {
    return this.#live.values();
  }

  /** All rows of tasks that are not over and whose id starts with `prefix`, and the newest of those that are over, oldest first. */
  async rows(prefix = ''): Promise<TaskRecord[]> {
    const rows = new Map<string, TaskRecord>();
    for (const record of await this.#parts.storage.tasks({ prefix, newest: LISTED })) rows.set(record.taskId, record);
    // What is in memory is as new or newer.
    for (const record of this.#over.records()) rows.set(record.taskId, record);
    for (const { record } of this.#live.values()) rows.set(record.taskId, record);
    const fitting = [...rows.values()]
      .filter(({ taskId }) => taskId.startsWith(prefix))
      .sort((a, b) => a.created - b.created || (a.taskId < b.taskId ? -1 : 1));
    const tooMany = fitting.length - LISTED;
    return tooMany <= 0 ? fitting : fitting.filter(({ subState }, index) => index >= tooMany || !isOver(subState));
  }

  /** Adds a task that nobody is to work on yet. */
  register(taskId: string, owner: string): LiveTask {
    const { clocks, clock, turn } = this.#parts;
    const record = freshTask(taskId, owner, clocks, clock.now());
    turn.change({ kind: 'task', task: record, expect: null });
    return this.#adopt(record, undefined);
  }

  /** Says who is to do a registered task, and queues it. */
  assign(task: LiveTask, target: string, payload: TaskPayload, assignId: string): void {
    const { options = {} } = payload;
    task.payload = payload;
    this.#write(task, {
      ...task.record,
      target,
      assignId,
      parent: options.parent ?? null,
      priority: options.priority ?? 0,
      maxAttempts: options.max_attempts ?? task.record.maxAttempts,
      silenceMs: options.silence_timeout_ms ?? task.record.silenceMs,
      attemptMs: options.attempt_timeout_ms ?? task.record.attemptMs,
    });
  }

  /** Moves a task; undefined when `input` cannot happen where it stands. Tells nobody. */
  move(task: LiveTask, input: TaskInput): TaskRecord | undefined {
    const before = task.record;
    const next = step(before, input);
    if (next === undefined) return undefined;
    this.#write(task, next);
    this.#parts.turn.metrics.moved(before, task.record, input, task.record.updated);
    if (before.agent !== null && !isHeld(next.subState))
      this.#parts.agents.get(before.agent)?.tasks.delete(next.taskId);
    if (next.agent !== null && isHeld(next.subState)) this.#parts.agents.get(next.agent)?.tasks.add(next.taskId);
    if (task.over) {
      task.stop();
      this.#live.delete(next.taskId);
      this.#over.add(next.taskId, task.record);
    }
    return next;
  }

  /** Keeps what the worker left for the next attempt. */
  keepCheckpoint(task: LiveTask, checkpoint: unknown): void {
    this.#write(task, { ...task.record, checkpoint: JSON.stringify(checkpoint) });
  }

  /** Tells the owner where the task stands, durably. */
  tellOwner(task: TaskRecord, reason: string): void {
    const { subState, attempt, agent } = task;
    const payload = { state: publicState(subState), sub_state: subState, attempt, agent, reason };
    this.#parts.post.tell(task.owner, 'task.status', task.taskId, payload, attempt > 0 ? attempt : undefined);
  }

  /** Ends an attempt by silence, time or loss: again after a back-off, or dead. */
  lose(task: LiveTask, reason: string): void {
    const { agent, attempt } = task.record;
    const next = this.move(task, { kind: 'lose', reason });
    if (next === undefined) return;
    task.lastAgent = agent;
    if (agent !== null) this.#parts.post.tell(agent, 'task.cancel', next.taskId, { reason }, attempt);
    this.tellOwner(next, reason);
    this.#backOff(task, next.losses - 1);
    this.schedule();
  }

  /** Takes an offer back; uses no attempt. */
  withdraw(task: LiveTask, reason: string): void {
    const { agent } = task.record;
    const next = this.move(task, { kind: 'withdraw', reason });
    if (next === undefined) return;
    if (agent !== null) task.passed.add(agent);
    this.tellOwner(next, reason);
    this.#backOff(task, task.withdrawn);
    task.withdrawn += 1;
    this.schedule();
  }

  /** What happens to the tasks of an agent whose connection ended: offers are void, work may be gone on with. */
  disconnected(agent: Agent): void {
    for (const task of this.#heldBy(agent)) {
      if (task.record.subState === 'offered') this.withdraw(task, `${agent.name} went away`);
    }
    this.schedule();
  }

  /** What an agent has accepted and not ended. */
  workOf(agent: Agent): { task_id: string; attempt: number }[] {
    return this.#heldBy(agent)
      .filter(({ record }) => record.subState !== 'offered')
      .map(({ record }) => ({ task_id: record.taskId, attempt: record.attempt }));
  }

  /** Takes back what an agent holds at its own wish; uses no attempt. */
  releaseAll(agent: Agent, reason: string): void {
    for (const task of this.#heldBy(agent)) this.release(task, reason);
    this.schedule();
  }

  /** A worker gives a task back; uses no attempt. */
  release(task: LiveTask, reason: string): void {
    if (task.record.subState === 'offered') {
      this.withdraw(task, reason);
      return;
    }
    const next = this.move(task, { kind: 'release', reason });
    if (next !== undefined) this.tellOwner(next, reason);
    this.schedule();
  }

  /** Ends all attempts of an agent. */
  loseAll(agent: Agent, reason: string): void {
    for (const task of this.#heldBy(agent)) {
      if (task.record.subState === 'offered') this.withdraw(task, reason);
      else this.lose(task, reason);
    }
  }

  /** Offers what is queued to whoever is free. Called after everything that may have made room or work. */
  schedule(): void {
    let free = this.#parts.concurrency - heldSlots(this.#live);
    for (const task of inLine(this.#live)) {
      const rides = ridesAlong(task.record, this.#live);
      const room = rides || free > 0;
      const able = this.#parts.agents.workers(task.record.target);
      task.waitForWorker(room && able.length === 0);
      if (!room || task.backingOff) continue;
      const worker = chooseWorker(able, task);
      if (worker === undefined) continue;
      this.#offer(task, worker);
      if (!rides) free -= 1;
    }
  }

  /** Puts a task into the hands of an agent that got it by a plain message; room is not asked for. */
  give(task: LiveTask, agent: Agent): void {
    this.move(task, { kind: 'offer', agent: agent.name, session: null });
    this.#taken(task, agent);
  }

  /** Takes up the tasks of an earlier process that are not over: offers are void, work waits for its session to come back. */
  async restore(
    records: readonly TaskRecord[],
    payloadOf: (record: TaskRecord) => Promise<TaskPayload | undefined>,
  ): Promise<void> {
    for (const record of records) {
      const payload = record.assignId === null ? undefined : await payloadOf(record);
      this.#adopt(record, payload).revived(this.#parts.clock.now());
    }
    for (const task of [...this.#live.values()]) {
      if (task.record.subState === 'offered') this.withdraw(task, 'the hub was restarted');
    }
    this.schedule();
  }

  stop(): void {
    for (const task of this.#live.values()) task.stop();
  }

  #heldBy(agent: Agent): LiveTask[] {
    return [...agent.tasks].flatMap((taskId) => this.#live.get(taskId) ?? []);
  }

  #adopt(record: TaskRecord, payload: TaskPayload | undefined): LiveTask {
    const task: LiveTask = new LiveTask(record, payload, this.#parts.clock, this.#parts.clocks, {
      accept: () => this.withdraw(task, `${task.record.agent} did not accept in time`),
      silence: () => {
        const { agent, silenceMs } = task.record;
        this.#parts.turn.metrics.leasesExpired += 1;
        // Whoever says nothing is asked again only when there is nobody else.
        if (agent !== null) task.passed.add(agent);
        this.lose(task, `no sign of life from ${agent} for ${inWords(silenceMs)}`);
      },
      attempt: () => this.lose(task, `the attempt took longer than ${inWords(task.record.attemptMs)}`),
      cancel: () => {
        const next = this.move(task, { kind: 'expire' });
        if (next !== undefined) this.tellOwner(next, next.reason ?? 'cancelled');
        this.schedule();
      },
      queue: () => {
        const next = this.move(task, { kind: 'give_up', reason: `no_worker: nobody came for ${task.record.target}` });
        if (next !== undefined) this.tellOwner(next, next.reason ?? 'no_worker');
        this.schedule();
      },
      backoff: () => this.schedule(),
    });
    this.#live.set(record.taskId, task);
    this.#over.remove(record.taskId);
    if (record.agent !== null && isHeld(record.subState))
      this.#parts.agents.get(record.agent)?.tasks.add(record.taskId);
    return task;
  }

  #write(task: LiveTask, next: TaskRecord): void {
    const { attempt, subState } = task.record;
    task.record = next;
    if (subState !== next.subState) task.entered(subState);
    task.record = {
      ...next,
      deadline: next.subState === 'working' ? task.deadline() : null,
      updated: this.#parts.clock.now(),
    };
    this.#parts.turn.change({ kind: 'task', task: task.record, expect: { attempt, subState } });
  }

  #offer(task: LiveTask, agent: Agent): void {
    const session = agent.level === 1 ? (agent.session?.session ?? null) : null;
    const next = this.move(task, { kind: 'offer', agent: agent.name, session });
    if (next === undefined) return;
    this.tellOwner(next, `offered to ${agent.name}`);
    const frame = agent.level === 0 ? plainOffer(task, agent.name) : fullOffer(task, agent.name);
    if (agent.level === 0) this.#taken(task, agent);
    const { connection } = agent;
    this.#parts.turn.after(() => connection?.send(frame));
  }

  /** A level-0 worker cannot accept: it has the task as soon as it is told. */
  #taken(task: LiveTask, agent: Agent): void {
    const next = this.move(task, { kind: 'accept' });
    if (next !== undefined) this.tellOwner(next, `given to ${agent.name}`);
  }

  #backOff(task: LiveTask, times: number): void {
    const { backoffBase } = this.#parts.clocks;
    if (!task.over) task.backOff(backoff(times, { baseMs: backoffBase, capMs: 60 * backoffBase }));
  }
}
