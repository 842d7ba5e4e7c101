import type { Log } from '../base/log.ts';
import { backoff, type Clock } from '../base/time.ts';
import type { TaskPayload } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { Dispatcher } from './dispatcher.ts';
import { freshTask } from './fresh-task.ts';
import type { LastWords } from './last-words.ts';
import { LiveTask } from './live-task.ts';
import { tellWorker } from './offers.ts';
import type { HubClocks, HubLimits } from './options.ts';
import type { Post } from './post.ts';
import { shortReason } from './reason.ts';
import { boxOfHolder, isFull } from './room.ts';
import type { Storage, TaskRecord } from './storage.ts';
import { isHeld, isOver, publicState, step, type TaskInput } from './task-machine.ts';
import { TaskPayloads } from './task-payloads.ts';
import { TaskTable } from './task-table.ts';
import { inWords } from './time-words.ts';
import type { Turn } from './turn.ts';

/** What the desk works with. */
export interface DeskParts {
  readonly turn: Turn;
  readonly post: Post;
  readonly agents: Agents;
  readonly storage: Pick<Storage, 'task' | 'byTask' | 'checkpoint'>;
  /** Root tasks at work at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly clocks: HubClocks;
  readonly limits: HubLimits;
  readonly log: Log;
}

/** Moves tasks by the machine, writes each move with its log rows in one transaction, and hands them out and takes them back. */
export class TaskDesk {
  readonly #parts: DeskParts;
  /** Which tasks there are. */
  readonly table: TaskTable;
  readonly #dispatcher: Dispatcher;
  readonly #payloads: TaskPayloads;
  #count = 0;

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.table = new TaskTable(parts.storage, () => new Promise((resolve) => parts.turn.after(resolve)));
    this.#payloads = new TaskPayloads(parts.storage);
    this.#dispatcher = new Dispatcher({
      ...parts,
      table: this.table,
      patience: parts.clocks.queue,
      offer: (task, agent) => this.#offer(task, agent),
      expired: (task) => this.#giveUp(task),
    });
  }

  /** Resolves when the store has all that happened: who gives a task and asks sees it offered. */
  caughtUp(): Promise<void> {
    this.#dispatcher.hurry();
    return new Promise((resolve) => this.#parts.turn.after(resolve));
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
    if (options.parent !== undefined) this.table.addChild(options.parent, task);
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
      task.stop();
      this.table.end(task);
      this.#payloads.drop(next.taskId);
    }
    return next;
  }

  /** Keeps what the worker left for the next attempt. */
  keepCheckpoint(task: LiveTask, checkpoint: unknown): void {
    this.#write(task, task.record);
    const { taskId } = task.record;
    this.#parts.turn.change({ kind: 'checkpoint', taskId, checkpoint: JSON.stringify(checkpoint) });
  }

  /**
   * Tells the owner where the task stands, durably. A mailbox that is full gets the end of each task and no more: how it stood
   * on the way is in the log, and others could fill it without an end.
   */
  tellOwner(task: TaskRecord, reason: string, isEnd = isOver(task.subState)): void {
    const { agents, limits, post } = this.#parts;
    const { subState, attempt, agent } = task;
    const payload = {
      state: publicState(subState),
      sub_state: subState,
      attempt,
      agent,
      reason: shortReason(reason),
    };
    const box = isEnd || !isFull(agents.get(task.owner), limits) ? task.owner : null;
    post.tell(task.owner, 'task.status', { taskId: task.taskId, attempt: attempt || undefined, box }, payload);
  }

  /** Ends an attempt by silence, time or loss: again after a back-off, or dead. */
  lose(task: LiveTask, reason: string): void {
    const { agent, attempt, taskId } = task.record;
    const box = boxOfHolder(task.record, this.#parts);
    const next = this.move(task, { kind: 'lose', reason });
    if (next === undefined) return;
    task.lastAgent = agent;
    if (agent !== null) this.#parts.post.tell(agent, 'task.cancel', { taskId, attempt, box }, { reason });
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
    this.agentChanged(agent.name);
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
    this.agentChanged(agent.name);
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

  /** Has what is queued offered to whoever is free; see {@link Dispatcher.schedule}. */
  schedule(): void {
    this.#dispatcher.schedule();
  }

  /** Like {@link schedule}, after this agent came, went, is given up, or took on other roles. */
  agentChanged(name: string): void {
    this.#dispatcher.agentChanged(name);
  }

  /** Puts a task into the hands of an agent that got it by a plain message; room is not asked for. */
  give(task: LiveTask, agent: Agent): void {
    this.move(task, { kind: 'offer', agent: agent.name, session: null });
    this.#taken(task, agent);
  }

  /** Takes up the tasks of an earlier process that are not over: offers are void, work waits for its session to come back. `said` is what their workers said last. */
  restore(records: readonly TaskRecord[], said: LastWords): void {
    const tasks = records.map((record) => this.#adopt(record));
    for (const task of tasks) {
      task.revived(this.#parts.clock.now(), said.busy.get(task.record.taskId));
      task.question = said.questions.get(task.record.taskId);
      this.#dispatcher.place(task);
    }
    for (const task of tasks) {
      if (task.record.subState === 'offered') this.withdraw(task, 'the hub was restarted');
    }
    this.schedule();
  }

  stop(): void {
    this.#dispatcher.stop();
    for (const task of this.table.open()) task.stop();
  }

  #heldBy(agent: Agent): LiveTask[] {
    return [...agent.tasks].flatMap((taskId) => this.table.live(taskId) ?? []);
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
        this.#dispatcher.place(task);
        this.schedule();
      },
    });
    this.table.add(task);
    if (record.agent !== null && isHeld(record.subState))
      this.#parts.agents.get(record.agent)?.tasks.add(record.taskId);
    return task;
  }

  #giveUp(task: LiveTask): void {
    const next = this.move(task, { kind: 'give_up', reason: `no_worker: nobody came for ${task.record.target}` });
    if (next !== undefined) this.tellOwner(next, next.reason ?? 'no_worker');
    this.schedule();
  }

  /** Nobody can be told what the task is about. */
  #loseRequest(task: LiveTask): void {
    const { taskId, assignId } = task.record;
    this.#parts.log.error({ task: taskId, id: assignId }, 'a task ends: the log does not have its request any more');
    const reason = 'its request cannot be read any more: the bytes of the log are damaged; give it again';
    const next = this.move(task, { kind: 'give_up', reason });
    if (next !== undefined) this.tellOwner(next, reason);
    this.schedule();
  }

  #write(task: LiveTask, next: TaskRecord): void {
    const { attempt, subState } = task.record;
    task.record = next;
    if (subState !== next.subState) task.entered(subState);
    task.record = {
      ...next,
      deadline: next.subState === 'working' ? task.deadline() : null,
      reason: next.reason === null ? null : shortReason(next.reason),
      updated: this.#parts.clock.now(),
    };
    this.#parts.turn.change({ kind: 'task', task: task.record, expect: { attempt, subState } });
    this.#dispatcher.place(task);
    if (isHeld(subState) !== isHeld(next.subState)) this.#dispatcher.placeChildren(next.taskId);
  }

  #offer(task: LiveTask, agent: Agent): void {
    const session = agent.level === 1 ? (agent.session?.session ?? null) : null;
    const next = this.move(task, { kind: 'offer', agent: agent.name, session });
    if (next === undefined) return;
    this.tellOwner(next, `offered to ${agent.name}`);
    const unreadable = () => this.#loseRequest(task);
    tellWorker(task, agent, { ...this.#parts, payloads: this.#payloads, unreadable });
    if (agent.level === 0) this.#taken(task, agent);
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
    this.#dispatcher.place(task);
  }
}
