import type { Log } from '../base/log.ts';
import { backoff, type Clock } from '../base/time.ts';
import type { TaskPayload } from '../protocol/index.ts';
import { type Agent, type Agents, targetsOf } from './agents.ts';
import { FinishedTasks } from './finished-tasks.ts';
import { freshTask } from './fresh-task.ts';
import { LiveTask } from './live-task.ts';
import { fullOffer, plainOffer } from './offers.ts';
import type { HubClocks } from './options.ts';
import type { Post } from './post.ts';
import { chooseWorker, ridesAlong } from './scheduler.ts';
import type { Storage, TaskRecord } from './storage.ts';
import { TaskLines } from './task-lines.ts';
import { isHeld, isOver, publicState, step, type TaskInput } from './task-machine.ts';
import { TaskPayloads } from './task-payloads.ts';
import { inWords } from './time-words.ts';
import { may } from './tokens.ts';
import type { Turn } from './turn.ts';

/** What the desk works with. */
export interface DeskParts {
  readonly turn: Turn;
  readonly post: Post;
  readonly agents: Agents;
  readonly storage: Pick<Storage, 'task' | 'tasks' | 'byTask'>;
  /** Root tasks at work at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly clocks: HubClocks;
  readonly log: Log;
}

/** Rows that one listing has at most, beside those of tasks that are not over. */
const LISTED = 1000;

/** Holds the task table: moves tasks by the machine, writes each move with its log rows in one transaction, offers queued ones. */
export class TaskDesk {
  readonly #parts: DeskParts;
  readonly #live = new Map<string, LiveTask>();
  readonly #over = new FinishedTasks();
  readonly #lines: TaskLines<LiveTask>;
  readonly #payloads: TaskPayloads;
  /** Open tasks by their owner, and by their parent. */
  readonly #owned = new Map<string, number>();
  readonly #children = new Map<string, Set<LiveTask>>();
  /** Slots in use: root tasks that are held; a task with a parent at work uses its parent's. */
  #slots = 0;
  #count = 0;
  #scheduled = false;
  #stopped = false;
  /** Names and roles that somebody is there for; undefined when that may have changed. */
  #served: ReadonlySet<string> | undefined;

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#payloads = new TaskPayloads(parts.storage);
    this.#lines = new TaskLines(parts.clock, parts.clocks.queue, (task) => this.#giveUp(task));
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
    return this.owned(name) > 0;
  }

  /** How many tasks of this owner are not over. */
  owned(name: string): number {
    return this.#owned.get(name) ?? 0;
  }

  /** The tasks that are not over. */
  open(): Iterable<LiveTask> {
    return this.#live.values();
  }

  /** All rows of tasks that are not over and whose id starts with `prefix`, and the newest of those that are over, oldest first. */
  async rows(prefix = ''): Promise<TaskRecord[]> {
    // Who gives a task and asks sees it offered.
    if (this.#scheduled && !this.#stopped) this.#offerQueued();
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
    return this.#adopt(record);
  }

  /** Says who is to do a registered task, and queues it; `bytes` is about how large the payload is. */
  assign(task: LiveTask, target: string, payload: TaskPayload, { id, bytes }: { id: string; bytes: number }): void {
    const { options = {} } = payload;
    const { taskId } = task.record;
    this.#payloads.keep(taskId, payload, bytes);
    if (options.parent !== undefined) this.#addChild(options.parent, task);
    this.#write(task, {
      ...task.record,
      target,
      assignId: id,
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
      this.#dismiss(task);
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
    this.workersChanged();
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
    this.workersChanged();
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

  /** Has what is queued offered to whoever is free, at the end of this turn. Called after everything that may have made room or work. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#parts.turn.before(() => {
      this.#scheduled = false;
      if (!this.#stopped) this.#offerQueued();
    });
  }

  /** Like {@link schedule}, after an agent came, went, or took on other roles. */
  workersChanged(): void {
    this.#served = undefined;
    this.schedule();
  }

  /** Puts a task into the hands of an agent that got it by a plain message; room is not asked for. */
  give(task: LiveTask, agent: Agent): void {
    this.move(task, { kind: 'offer', agent: agent.name, session: null });
    this.#taken(task, agent);
  }

  /** Takes up the tasks of an earlier process that are not over: offers are void, work waits for its session to come back. */
  restore(records: readonly TaskRecord[]): void {
    const tasks = records.map((record) => this.#adopt(record));
    for (const task of tasks) {
      task.revived(this.#parts.clock.now());
      this.#place(task);
    }
    for (const task of tasks) {
      if (task.record.subState === 'offered') this.withdraw(task, 'the hub was restarted');
    }
    this.schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#lines.stop();
    for (const task of this.#live.values()) task.stop();
  }

  #heldBy(agent: Agent): LiveTask[] {
    return [...agent.tasks].flatMap((taskId) => this.#live.get(taskId) ?? []);
  }

  #adopt(record: TaskRecord): LiveTask {
    this.#count += 1;
    const task: LiveTask = new LiveTask(record, this.#count, this.#parts.clock, this.#parts.clocks, {
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
      backoff: () => {
        this.#place(task);
        this.schedule();
      },
    });
    this.#live.set(record.taskId, task);
    this.#over.remove(record.taskId);
    this.#owned.set(record.owner, this.owned(record.owner) + 1);
    if (record.parent !== null) this.#addChild(record.parent, task);
    if (record.agent !== null && isHeld(record.subState))
      this.#parts.agents.get(record.agent)?.tasks.add(record.taskId);
    return task;
  }

  /** Takes a task that is over out of what is about open ones. */
  #dismiss(task: LiveTask): void {
    const { taskId, owner, parent } = task.record;
    task.stop();
    this.#live.delete(taskId);
    this.#payloads.drop(taskId);
    const owned = this.owned(owner) - 1;
    if (owned > 0) this.#owned.set(owner, owned);
    else this.#owned.delete(owner);
    const siblings = parent === null ? undefined : this.#children.get(parent);
    siblings?.delete(task);
    if (parent !== null && siblings?.size === 0) this.#children.delete(parent);
  }

  #addChild(parent: string, task: LiveTask): void {
    const children = this.#children.get(parent) ?? new Set();
    this.#children.set(parent, children.add(task));
  }

  /** Keeps count of slots and lines: a task is in a line, has a slot, uses that of its parent, or none of these. */
  #place(task: LiveTask): void {
    const { subState, target } = task.record;
    const rides = ridesAlong(task.record, this.#live);
    // Who has a slot keeps it when its parent starts to work, so that two that name each other as parent have one all the same.
    const slot = isHeld(subState) && (task.slot || !rides);
    if (slot !== task.slot) this.#slots += slot ? 1 : -1;
    task.slot = slot;
    if (subState === 'queued' && target !== '') this.#lines.place(task, rides);
    else this.#lines.remove(task);
  }

  #giveUp(task: LiveTask): void {
    const next = this.move(task, { kind: 'give_up', reason: `no_worker: nobody came for ${task.record.target}` });
    if (next !== undefined) this.tellOwner(next, next.reason ?? 'no_worker');
    this.schedule();
  }

  #offerQueued(): void {
    if (this.#served === undefined) this.#served = this.#parts.agents.served();
    const { concurrency } = this.#parts;
    if (this.#lines.hasReady(this.#slots < concurrency)) this.#offerToFree();
    this.#lines.judge(this.#served, this.#slots < concurrency);
  }

  #offerToFree(): void {
    const able = this.#freeWorkers();
    for (;;) {
      const task = this.#lines.first(able.keys(), this.#slots < this.#parts.concurrency);
      if (task === undefined) return;
      const { target } = task.record;
      const worker = chooseWorker(able.get(target) ?? [], task);
      if (worker === undefined) able.delete(target);
      else this.#offer(task, worker);
    }
  }

  /** Who could take something now, by the names and roles for which something waits. */
  #freeWorkers(): Map<string, Agent[]> {
    const able = new Map<string, Agent[]>();
    for (const agent of this.#parts.agents.all()) {
      if (agent.connection === undefined || agent.tasks.size >= agent.maxConcurrency) continue;
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
    this.#place(task);
    if (isHeld(subState) === isHeld(next.subState)) return;
    for (const child of this.#children.get(next.taskId) ?? []) this.#place(child);
  }

  #offer(task: LiveTask, agent: Agent): void {
    const session = agent.level === 1 ? (agent.session?.session ?? null) : null;
    const next = this.move(task, { kind: 'offer', agent: agent.name, session });
    if (next === undefined) return;
    this.tellOwner(next, `offered to ${agent.name}`);
    const { level, connection } = agent;
    const payload = this.#payloads.get(next.taskId);
    const word = level === 0 ? plainOffer : fullOffer;
    const frame = payload === undefined ? undefined : word(task, payload, agent.name);
    if (level === 0) this.#taken(task, agent);
    const { turn, log } = this.#parts;
    turn.after(() => {
      if (frame !== undefined) {
        connection?.send(frame);
        return;
      }
      this.#payloads.read(next).then(
        (read) => {
          const { attempt, agent: holder } = task.record;
          if (attempt === next.attempt && holder === agent.name) connection?.send(word(task, read, agent.name));
        },
        // The clocks of the offer go on.
        (error: unknown) => log.error({ err: error, task: next.taskId }, 'what a task is about cannot be read'),
      );
    });
  }

  /** A level-0 worker cannot accept: it has the task as soon as it is told. */
  #taken(task: LiveTask, agent: Agent): void {
    const next = this.move(task, { kind: 'accept' });
    if (next !== undefined) this.tellOwner(next, `given to ${agent.name}`);
  }

  #backOff(task: LiveTask, times: number): void {
    const { backoffBase } = this.#parts.clocks;
    if (task.over) return;
    task.backOff(backoff(times, { baseMs: backoffBase, capMs: 60 * backoffBase }));
    this.#place(task);
  }
}
