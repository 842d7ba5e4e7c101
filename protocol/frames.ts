import { z } from 'zod';
import { envelope, Role } from './envelope.ts';
import { ErrorCode } from './errors.ts';
import { LoggedEvent } from './events.ts';
import { AgentRow, TaskPayload, TaskResultPayload, TaskRow, TaskState, TaskSubState } from './shapes.ts';

function frame<T extends string, P extends z.ZodType>(type: T, payload: P) {
  return envelope.extend({ type: z.literal(type), payload });
}

const anything = z.unknown();
const nothing = z.unknown().optional();

/** Where a session stood when its connection ended. */
export const ResumePoint = z.object({
  session: z.string(),
  resume_token: z.string(),
  epoch: z.string(),
  seq: z.int().nonnegative(),
});
export type ResumePoint = z.infer<typeof ResumePoint>;

/** Turns level 1 on; must come within 10 s of the open when the address says `v=1`. */
export const Hello = frame(
  'hello',
  z.object({
    v: z.int(),
    roles: z.array(Role).max(32).default([]),
    skills: z.array(z.string().max(64)).max(64).default([]),
    max_concurrency: z.int().min(1).max(64).default(1),
    labels: z.record(z.string(), z.string()).default({}),
    client: z.object({ name: z.string(), version: z.string() }).optional(),
    title: z.string().max(200).optional(),
    resume: ResumePoint.optional(),
  }),
);

/** The hub's answer to `hello`, with everything a client needs to know. */
export const Welcome = frame(
  'welcome',
  z.object({
    v: z.int(),
    session: z.string(),
    resume_token: z.string(),
    epoch: z.string(),
    seq: z.int().nonnegative(),
    features: z.array(z.string()),
    ping_ms: z.int(),
    pong_ms: z.int(),
    lease_ms: z.int(),
    limits: z.object({ max_bytes: z.int(), max_inflight: z.int(), rate: z.int(), burst: z.int() }),
    resume: z.object({
      state: z.enum(['new', 'recovered', 'gap']),
      from: z.int().optional(),
      to: z.int().optional(),
      reason: z.string().optional(),
    }),
    /** What this name has accepted and not ended: a program that has no work for one of them gives it back. */
    tasks: z.array(z.object({ task_id: z.string(), attempt: z.int() })).default([]),
  }),
);

export const Ping = frame('ping', nothing);
export const Pong = frame('pong', nothing);
/** A plain message from one agent to another. */
export const Route = frame('route', anything);
/** Cumulative: the first `upto` frames of this connection (`hello` = 1) are committed, refused ones included. */
export const Accepted = frame(
  'accepted',
  z.object({ upto: z.int().nonnegative(), duplicates: z.array(z.string()).optional() }),
);
export const ErrorFrame = frame(
  'error',
  z.object({
    code: ErrorCode,
    message: z.string(),
    retryable: z.boolean(),
    retry_after_ms: z.int().nonnegative().optional(),
    ref_type: z.string().optional(),
    details: z.unknown().optional(),
  }),
);
/** Asks for every logged frame that fits as an `event`, at most once each; `after_lsn` catches up first. */
export const Watch = frame(
  'watch',
  z
    .object({
      after_lsn: z.int().nonnegative().optional(),
      task_id: z.string().optional(),
      agent: z.string().optional(),
      type: z.string().optional(),
    })
    .default({}),
);
/** One logged frame, for a watcher. */
export const EventFrame = frame('event', z.object({ frame: envelope }));
export const Ack = frame(
  'ack',
  z.union([z.object({ seq: z.int().nonnegative() }), z.object({ ids: z.array(z.string()) })]),
);
/** Makes a task row owned by the sender (level 0). */
export const RegisterTask = frame('register_task', anything);

/** Coordinator to hub (`to` is a name or `role:R`), and hub to worker, then with `attempt`. */
export const TaskAssign = frame(
  'task.assign',
  TaskPayload.extend({
    lease_ms: z.int().optional(),
    /** When this attempt ends at the latest, ms since epoch. */
    deadline: z.int().optional(),
    /** What the last attempt left with `task.progress`. */
    checkpoint: z.unknown().optional(),
  }),
);
export const TaskAccept = frame('task.accept', nothing);
export const TaskDecline = frame('task.decline', z.object({ reason: z.string() }));
/** A sign of life. `busy_until` (ms since epoch) tells how long the call that begins now may take. */
export const TaskProgress = frame(
  'task.progress',
  z.object({
    note: z.string().max(2000).optional(),
    pct: z.number().min(0).max(100).optional(),
    busy_until: z.int().optional(),
    checkpoint: z.unknown().optional(),
  }),
);
export const Lease = frame('lease', z.object({ until: z.int() }));
/** A worker's question to the owner. */
export const TaskInput = frame('task.input', z.object({ question: z.string().min(1) }));
/** The owner's answer; `ref` is the id of the `task.input`. */
export const TaskAnswer = frame('task.answer', z.object({ text: z.string() }));
export const TaskResult = frame('task.result', TaskResultPayload);
/** A worker gives the task back, for instance when it shuts down. */
export const TaskRelease = frame('task.release', z.object({ reason: z.string().optional() }).default({}));
/** To the owner, for every change that the owner did not cause. */
export const TaskStatus = frame(
  'task.status',
  z.object({
    state: TaskState,
    sub_state: TaskSubState,
    attempt: z.int().nonnegative(),
    agent: z.string().nullable(),
    reason: z.string(),
  }),
);
/** Something that happened, for the log: the loop's events, and a run's own. Logged, never put in a mailbox. */
export const TaskEvent = frame('task.event', z.object({ event: LoggedEvent }));
export const TaskCancel = frame('task.cancel', z.object({ reason: z.string() }));
export const Bye = frame(
  'bye',
  z
    .object({ drain_ms: z.int().optional(), reason: z.string().optional(), retry_after_ms: z.int().optional() })
    .default({}),
);
/** Asked without payload, answered with `agents`. */
export const Who = frame('who', z.object({ agents: z.array(AgentRow).optional() }).nullish());
/**
 * Asked without payload (or with a `prefix` of task ids), answered with `tasks`, oldest first: those that are not over and the
 * newest of the others, with `more` when there are others. With `after` (an id, or empty) a page of all, in the order in which they were made;
 * `next` is the `after` of the next page, absent at the end.
 */
export const Tasks = frame(
  'tasks',
  z
    .object({
      prefix: z.string().optional(),
      after: z.string().optional(),
      tasks: z.array(TaskRow).optional(),
      more: z.boolean().optional(),
      next: z.string().optional(),
    })
    .nullish(),
);
/** Asked with a filter, answered with `frames` in log order; `next` is the `after_lsn` of the next page, absent at the end. */
export const LogFrame = frame(
  'log',
  z
    .object({
      after_lsn: z.int().nonnegative().optional(),
      task_id: z.string().optional(),
      /** Also tasks whose id continues `task_id` after a dot. */
      tree: z.boolean().optional(),
      type: z.string().optional(),
      limit: z.int().min(1).max(1000).optional(),
      frames: z.array(envelope).optional(),
      next: z.int().optional(),
    })
    .default({}),
);

/** Every frame type by name: the one list that the hub, the clients, the JSON Schema and the documents go by. */
export const frames = {
  hello: Hello,
  welcome: Welcome,
  ping: Ping,
  pong: Pong,
  route: Route,
  accepted: Accepted,
  error: ErrorFrame,
  watch: Watch,
  event: EventFrame,
  ack: Ack,
  register_task: RegisterTask,
  'task.assign': TaskAssign,
  'task.accept': TaskAccept,
  'task.decline': TaskDecline,
  'task.progress': TaskProgress,
  lease: Lease,
  'task.input': TaskInput,
  'task.answer': TaskAnswer,
  'task.result': TaskResult,
  'task.release': TaskRelease,
  'task.status': TaskStatus,
  'task.event': TaskEvent,
  'task.cancel': TaskCancel,
  bye: Bye,
  who: Who,
  tasks: Tasks,
  log: LogFrame,
} as const;

export type FrameType = keyof typeof frames;

/** A frame of one type, checked. */
export type FrameOf<T extends FrameType> = z.infer<(typeof frames)[T]>;

/** Any frame, checked; switch over `type`. */
export type Frame = { [T in FrameType]: FrameOf<T> }[FrameType];
