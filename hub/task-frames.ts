import type { FrameOf } from '../protocol/index.ts';
import { parseTarget } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { hubFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import type { Decoded } from './decode.ts';
import { goalOf, resultOf } from './level-zero.ts';
import type { LiveTask } from './live-task.ts';
import type { Post } from './post.ts';
import type { Stamp } from './row.ts';
import type { TaskRecord } from './storage.ts';
import type { TaskDesk } from './task-desk.ts';
import { isHeld } from './task-machine.ts';
import { may } from './tokens.ts';
import type { Turn } from './turn.ts';

/** Why a frame was not taken. */
export interface Refused {
  readonly code:
    | 'bad_frame'
    | 'bad_state'
    | 'forbidden'
    | 'no_such_task'
    | 'stale_attempt'
    | 'lease_lost'
    | NonTaskCode;
  readonly message: string;
}
type NonTaskCode =
  | 'no_such_agent'
  | 'offline'
  | 'no_worker'
  | 'mailbox_full'
  | 'unknown_type'
  | 'duplicate_id_conflict';

/** Who sent a frame, and through what. */
export interface Sender {
  readonly agent: Agent;
  readonly connection: Connection;
}

type TaskType =
  | 'register_task'
  | 'task.assign'
  | 'task.accept'
  | 'task.decline'
  | 'task.progress'
  | 'task.input'
  | 'task.answer'
  | 'task.result'
  | 'task.release'
  | 'task.cancel'
  | 'task.event';

/** A frame about a task, with what was really sent. */
export type TaskFrame = FrameOf<TaskType>;

const refused = (code: Refused['code'], message: string): Refused => ({ code, message });

/** Reads what owners and workers say about tasks, and has the desk move them. */
export class TaskFrames {
  readonly #desk: TaskDesk;
  readonly #post: Post;
  readonly #agents: Agents;
  readonly #turn: Turn;

  constructor(parts: { desk: TaskDesk; post: Post; agents: Agents; turn: Turn }) {
    this.#desk = parts.desk;
    this.#post = parts.post;
    this.#agents = parts.agents;
    this.#turn = parts.turn;
  }

  handle(sender: Sender, decoded: Decoded, frame: TaskFrame): Refused | undefined {
    if (frame.task_id === '') return refused('bad_frame', 'task_id: which task?');
    switch (frame.type) {
      case 'register_task':
        return this.#register(sender, decoded, frame.task_id);
      case 'task.assign':
        return this.#assign(sender, decoded, frame);
      case 'task.answer':
        return this.#answer(sender, decoded, frame);
      case 'task.cancel':
        return this.#cancel(sender, decoded, frame);
      case 'task.event':
        return this.#event(sender, decoded, frame);
      default:
        return this.#work(sender, decoded, frame);
    }
  }

  /** A plain `route` that is part of a task, as level 0 speaks of tasks; `elsewhere` when it is just a message. */
  route(sender: Sender, decoded: Decoded, frame: FrameOf<'route'>): Refused | undefined | 'elsewhere' {
    const task = this.#desk.live(frame.task_id);
    if (task === undefined) return 'elsewhere';
    const { owner, agent, target, subState } = task.record;
    const { name } = sender.agent;
    if (name === agent && sender.agent.level === 0 && isHeld(subState)) return this.#routeBack(sender, decoded, task);
    if (name !== owner) return 'elsewhere';
    if (target === '') return this.#assignByRoute(sender, decoded, frame, task);
    if (subState === 'input_required' && sender.agent.level === 0) return this.#answerByRoute(sender, decoded, task);
    return 'elsewhere';
  }

  #register(sender: Sender, decoded: Decoded, taskId: string): Refused | undefined {
    if (!may(sender.agent.grant, 'assign')) return refused('forbidden', 'this token may not give tasks');
    const known = this.#desk.find(taskId);
    if (known !== undefined && known.owner !== sender.agent.name)
      return refused('bad_state', 'this task has another owner');
    this.#post.relay(sender.agent.name, decoded);
    if (known === undefined) this.#desk.register(taskId, sender.agent.name);
    return undefined;
  }

  #assign(sender: Sender, decoded: Decoded, frame: FrameOf<'task.assign'>): Refused | undefined {
    const { agent } = sender;
    if (!may(agent.grant, 'assign')) return refused('forbidden', 'this token may not give tasks');
    const target = parseTarget(frame.to);
    if (
      target === undefined ||
      target.kind === 'hub' ||
      target.kind === 'everyone' ||
      (target.kind === 'role' && target.all)
    ) {
      return refused('bad_frame', 'to: a task goes to one name, or to role:R');
    }
    const known = this.#desk.find(frame.task_id);
    const registered = this.#desk.live(frame.task_id);
    if (known !== undefined && (known.owner !== agent.name || registered === undefined || known.target !== '')) {
      return refused('bad_state', 'there is a task with this id; a new one needs its own');
    }
    const { goal, artifacts, constraints, options } = frame.payload;
    const id = this.#post.relay(agent.name, decoded);
    const task = registered ?? this.#desk.register(frame.task_id, agent.name);
    this.#desk.assign(task, frame.to, { goal, artifacts, constraints, ...(options && { options }) }, id);
    this.#desk.schedule();
    return undefined;
  }

  #answer(sender: Sender, decoded: Decoded, frame: FrameOf<'task.answer'>): Refused | undefined {
    const task = this.#ruled(sender, frame.task_id);
    if ('code' in task) return task;
    if (this.#desk.move(task, { kind: 'answer' }) === undefined) return refused('bad_state', 'nobody asked anything');
    this.#post.relay(sender.agent.name, decoded, toWorker(task.record));
    return undefined;
  }

  #cancel(sender: Sender, decoded: Decoded, frame: FrameOf<'task.cancel'>): Refused | undefined {
    const task = this.#ruled(sender, frame.task_id);
    if ('code' in task) return task;
    const before = task.record;
    const next = this.#desk.move(task, { kind: 'cancel', reason: frame.payload.reason });
    if (next === undefined) return refused('bad_state', 'the task is being cancelled already');
    this.#post.relay(sender.agent.name, decoded, before.agent === null ? {} : toWorker(before));
    if (task.over || sender.agent.name !== next.owner) this.#desk.tellOwner(next, frame.payload.reason);
    this.#desk.schedule();
    return undefined;
  }

  /** A known task's events come from who holds it, or its owner; those of an unknown task (a run's own) from who may give tasks. */
  #event(sender: Sender, decoded: Decoded, frame: FrameOf<'task.event'>): Refused | undefined {
    const { agent } = sender;
    const record = this.#desk.find(frame.task_id);
    if (record === undefined) {
      if (!may(agent.grant, 'assign')) return refused('no_such_task', 'there is no such task');
    } else if (record.owner !== agent.name) {
      if (record.agent !== agent.name) return refused('stale_attempt', 'this attempt is not yours');
      if (frame.attempt !== undefined && frame.attempt !== record.attempt) {
        return refused('stale_attempt', `attempt ${frame.attempt} is over; now is ${record.attempt}`);
      }
      this.#desk.live(frame.task_id)?.sign();
    }
    this.#post.relay(agent.name, decoded);
    return undefined;
  }

  #work(
    sender: Sender,
    decoded: Decoded,
    frame: FrameOf<'task.accept' | 'task.decline' | 'task.progress' | 'task.input' | 'task.result' | 'task.release'>,
  ): Refused | undefined {
    const { agent } = sender;
    const record = this.#desk.find(frame.task_id);
    if (record === undefined) return refused('no_such_task', 'there is no such task');
    if (frame.attempt === undefined) return refused('bad_frame', 'attempt: repeat the number of task.assign');
    const task = this.#desk.live(frame.task_id);
    if (
      record.agent !== agent.name ||
      record.attempt !== frame.attempt ||
      !isHeld(record.subState) ||
      task === undefined
    ) {
      return this.#stale(sender, decoded, frame, record);
    }
    task.sign(frame.type === 'task.progress' ? frame.payload.busy_until : undefined);
    if (frame.type === 'task.decline' || frame.type === 'task.release') {
      this.#post.relay(agent.name, decoded, { to: record.owner });
      this.#desk.release(task, frame.payload.reason ?? `${agent.name} gave it back`);
      return undefined;
    }
    if (frame.type === 'task.accept') this.#post.relay(agent.name, decoded, { to: record.owner });
    const accepted = this.#desk.move(task, { kind: 'accept' });
    if (accepted !== undefined) this.#desk.tellOwner(accepted, `accepted by ${agent.name}`);
    switch (frame.type) {
      case 'task.accept':
        return undefined;
      case 'task.progress':
        return this.#progress(sender, decoded, frame, task);
      case 'task.input':
        return this.#ask(sender, decoded, task);
      case 'task.result':
        return this.#finish(sender, decoded, task, frame.payload);
      default:
        frame satisfies never;
        return undefined;
    }
  }

  #progress(sender: Sender, decoded: Decoded, frame: FrameOf<'task.progress'>, task: LiveTask): undefined {
    const { checkpoint, busy_until: busyUntil } = frame.payload;
    this.#post.relay(sender.agent.name, decoded, { to: task.record.owner });
    if (checkpoint !== undefined) this.#desk.keepCheckpoint(task, checkpoint);
    const until = task.sign(busyUntil);
    const lease = hubFrame(
      'lease',
      sender.agent.name,
      { until },
      {
        task_id: frame.task_id,
        attempt: task.record.attempt,
        ...(frame.id !== undefined && { ref: frame.id }),
      },
    );
    this.#turn.after(() => sender.connection.send(lease));
  }

  #ask(sender: Sender, decoded: Decoded, task: LiveTask): Refused | undefined {
    const next = this.#desk.move(task, { kind: 'ask' });
    if (next === undefined) return refused('bad_state', 'the task waits for an answer, or is being cancelled');
    this.#post.relay(sender.agent.name, decoded, toOwner(next));
    this.#desk.tellOwner(next, `${sender.agent.name} asks`);
    return undefined;
  }

  #finish(
    sender: Sender,
    decoded: Decoded,
    task: LiveTask,
    payload: FrameOf<'task.result'>['payload'],
    stamp: Stamp = {},
  ): undefined {
    const { record } = task;
    const cancelling = record.subState === 'cancelling';
    const relayed = cancelling ? { ...stamp, to: record.owner } : { ...stamp, ...toOwner(record) };
    const id = this.#post.relay(sender.agent.name, decoded, relayed);
    const { status, summary } = payload;
    const next = this.#desk.move(task, { kind: 'result', status, summary, id });
    if (cancelling && next !== undefined) this.#desk.tellOwner(next, next.reason ?? 'cancelled');
    this.#desk.schedule();
  }

  /** What comes from an attempt that is over changes nothing; a result is kept in the log, under another name, and its owner told. */
  #stale(sender: Sender, decoded: Decoded, frame: TaskFrame, record: TaskRecord): Refused {
    const { name } = sender.agent;
    if (record.agent === name && record.attempt === frame.attempt)
      return refused('bad_state', `the task is ${record.subState}`);
    if (frame.type === 'task.result') {
      this.#post.relay(name, decoded, { type: 'stale_result', to: record.owner });
      this.#desk.tellOwner(record, `stale result of attempt ${frame.attempt} by ${name}`);
    }
    return refused('stale_attempt', `attempt ${frame.attempt} of ${name} is over`);
  }

  #assignByRoute(
    sender: Sender,
    decoded: Decoded,
    frame: FrameOf<'route'>,
    task: LiveTask,
  ): Refused | undefined | 'elsewhere' {
    const target = parseTarget(frame.to);
    if (target?.kind !== 'agent' && (target?.kind !== 'role' || target.all)) return 'elsewhere';
    const worker = target.kind === 'agent' ? this.#agents.get(target.name) : undefined;
    if (target.kind === 'agent' && worker?.connection === undefined && worker?.mailbox === undefined)
      return 'elsewhere';
    const direct = worker?.level === 0;
    const id = this.#post.relay(sender.agent.name, decoded, { attempt: 1, ...(direct && { box: frame.to }) });
    this.#desk.assign(task, frame.to, goalOf(frame.payload), id);
    if (direct) this.#desk.give(task, worker);
    else this.#desk.schedule();
    return undefined;
  }

  #routeBack(sender: Sender, decoded: Decoded, task: LiveTask): undefined | 'elsewhere' {
    task.sign();
    const result = resultOf(decoded.frame.payload);
    if (result === undefined) return 'elsewhere';
    const owner = this.#agents.get(task.record.owner);
    const stamp = { attempt: task.record.attempt, ...(owner?.level === 1 && { type: 'task.result', payload: result }) };
    return this.#finish(sender, decoded, task, result, stamp);
  }

  #answerByRoute(sender: Sender, decoded: Decoded, task: LiveTask): undefined {
    const { payload } = decoded.frame;
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload ?? '');
    this.#desk.move(task, { kind: 'answer' });
    this.#post.relay(sender.agent.name, decoded, { type: 'task.answer', payload: { text }, ...toWorker(task.record) });
  }

  /** The task when the sender may rule over it. */
  #ruled(sender: Sender, taskId: string): LiveTask | Refused {
    const record = this.#desk.find(taskId);
    if (record === undefined) return refused('no_such_task', 'there is no such task');
    if (record.owner !== sender.agent.name && !may(sender.agent.grant, 'admin')) {
      return refused('forbidden', 'only the owner of a task rules over it');
    }
    return this.#desk.live(taskId) ?? refused('bad_state', `the task is ${record.subState}`);
  }
}

function toWorker({ agent, attempt }: TaskRecord): Stamp {
  return agent === null ? {} : { to: agent, box: agent, attempt };
}

function toOwner({ owner }: TaskRecord): Stamp {
  return { to: owner, box: owner };
}
