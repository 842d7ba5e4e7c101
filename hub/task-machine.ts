import type { TaskState, TaskSubState } from '../protocol/index.ts';
import type { TaskRecord } from './storage.ts';

/** What can happen to a task. */
export type TaskInput =
  | { readonly kind: 'offer'; readonly agent: string; readonly session: string | null }
  | { readonly kind: 'accept' }
  /** The offer came to nothing: declined, not accepted in time, or the agent went away. Uses no attempt. */
  | { readonly kind: 'withdraw'; readonly reason: string }
  | { readonly kind: 'ask' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'result'; readonly status: 'success' | 'failed'; readonly id: string; readonly summary: string }
  /** The attempt ended by silence, time or loss of the agent. */
  | { readonly kind: 'lose'; readonly reason: string }
  | { readonly kind: 'release'; readonly reason: string }
  | { readonly kind: 'cancel'; readonly reason: string }
  /** A cancelled task was not ended by its worker in time. */
  | { readonly kind: 'expire' }
  /** Nobody can be given it: none came for it, or what it is about is lost. */
  | { readonly kind: 'give_up'; readonly reason: string };

type Rule<K extends TaskInput['kind']> = (
  task: TaskRecord,
  input: Extract<TaskInput, { kind: K }>,
) => Partial<TaskRecord> & { subState: TaskSubState };

type Rules = { readonly [K in TaskInput['kind']]?: Rule<K> };

const nobody = { agent: null, session: null } as const;

const finish: Rule<'result'> = (_task, { status, id, summary }) => ({
  subState: status === 'success' ? 'done' : 'failed',
  reason: status === 'success' ? null : 'the worker reported failure',
  resultId: id,
  summary,
});
const lose: Rule<'lose'> = (task, { reason }) => {
  const losses = task.losses + 1;
  return { ...nobody, subState: losses >= task.maxAttempts ? 'dead' : 'queued', losses, reason };
};
const release: Rule<'release'> = (_task, { reason }) => ({ ...nobody, subState: 'queued', reason });
const ask: Rule<'ask'> = () => ({ subState: 'input_required', reason: null });
const stop: Rule<'cancel'> = (_task, { reason }) => ({ subState: 'cancelling', reason });
const cancelled = (task: TaskRecord): { subState: TaskSubState; reason: string | null } => ({
  subState: 'cancelled',
  reason: task.reason,
});

/** From where, by what, to where. What is not in the table cannot happen. */
const table: Readonly<Record<TaskSubState, Rules>> = {
  queued: {
    offer: (task, { agent, session }) => ({
      subState: 'offered',
      attempt: task.attempt + 1,
      agent,
      session,
      reason: null,
    }),
    cancel: (_task, { reason }) => ({ subState: 'cancelled', reason }),
    give_up: (_task, { reason }) => ({ subState: 'failed', reason }),
  },
  offered: {
    accept: () => ({ subState: 'working' }),
    withdraw: (task, { reason }) => ({ ...nobody, subState: 'queued', attempt: task.attempt - 1, reason }),
    cancel: (_task, { reason }) => ({ subState: 'cancelled', reason }),
    give_up: (task, { reason }) => ({ ...nobody, subState: 'failed', attempt: task.attempt - 1, reason }),
  },
  working: {
    ask,
    result: finish,
    lose,
    release,
    cancel: stop,
    // Who cannot accept has it before anybody knows whether it can be told.
    give_up: (_task, { reason }) => ({ ...nobody, subState: 'failed', reason }),
  },
  input_required: { answer: () => ({ subState: 'working' }), result: finish, lose, release, cancel: stop },
  cancelling: { result: cancelled, lose: cancelled, release: cancelled, expire: cancelled },
  done: {},
  failed: {},
  cancelled: {},
  dead: {},
};

/** The task after `input`, or undefined when that cannot happen where it stands. */
export function step(task: TaskRecord, input: TaskInput): TaskRecord | undefined {
  const rule = table[task.subState][input.kind] as Rule<TaskInput['kind']> | undefined;
  return rule === undefined ? undefined : { ...task, ...rule(task, input as never) };
}

const publicStates: Readonly<Record<TaskSubState, TaskState>> = {
  queued: 'pending',
  offered: 'pending',
  working: 'running',
  input_required: 'running',
  cancelling: 'running',
  done: 'done',
  failed: 'failed',
  cancelled: 'failed',
  dead: 'failed',
};

/** What others are told of a sub-state. */
export function publicState(subState: TaskSubState): TaskState {
  return publicStates[subState];
}

/** Whether nothing can happen to it any more. */
export function isOver(subState: TaskSubState): boolean {
  return Object.keys(table[subState]).length === 0;
}

/** Whether an agent holds it, and with it a slot. */
export function isHeld(subState: TaskSubState): boolean {
  return subState === 'offered' || publicState(subState) === 'running';
}
