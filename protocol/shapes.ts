import { z } from 'zod';
import { Role, TaskId } from './envelope.ts';

/** Largest text that travels inside a frame; longer ones go by `ref` or `path`. Characters. */
export const MAX_INLINE_TEXT = 65_536;

/** A piece of work that is handed on. `ref` names a blob (`sha256:…`) or a commit. */
export const Artifact = z.object({
  kind: z.enum(['file', 'diff', 'commit', 'signature', 'text', 'report', 'picture', 'plan', 'command']),
  title: z.string().max(300),
  path: z.string().max(4096).optional(),
  sha256: z.string().optional(),
  text: z.string().max(MAX_INLINE_TEXT).optional(),
  ref: z.string().max(512).optional(),
});
export type Artifact = z.infer<typeof Artifact>;

/** An objection. A `blocking` one sends the work back. */
export const Issue = z.object({
  severity: z.enum(['blocking', 'warning', 'note']),
  message: z.string().min(1).max(4000),
  path: z.string().max(4096).optional(),
  line: z.int().positive().optional(),
  evidence: z.string().max(8000).optional(),
});
export type Issue = z.infer<typeof Issue>;

/** How the hub treats one task; times in ms, 0 = off. */
export const TaskOptions = z.object({
  attempt_timeout_ms: z.int().nonnegative().optional(),
  silence_timeout_ms: z.int().nonnegative().optional(),
  max_attempts: z.int().min(1).max(10).optional(),
  priority: z.int().optional(),
  /** Task whose slot this one uses. */
  parent: TaskId.optional(),
  /** Absolute path of the work tree. */
  tree: z.string().optional(),
  /** Commit the work tree started from. */
  base_sha: z.string().optional(),
});
export type TaskOptions = z.infer<typeof TaskOptions>;

/** Payload of `task.assign`. */
export const TaskPayload = z.object({
  goal: z.string().min(1),
  artifacts: z.array(Artifact).default([]),
  constraints: z.array(z.string()).default([]),
  options: TaskOptions.optional(),
});
export type TaskPayload = z.infer<typeof TaskPayload>;

/** Payload of `task.result`: whether the role did its own job, and what came of it. */
export const TaskResultPayload = z.object({
  status: z.enum(['success', 'failed']),
  summary: z.string().max(2000),
  artifacts: z.array(Artifact).default([]),
  issues: z.array(Issue).default([]),
});
export type TaskResultPayload = z.infer<typeof TaskResultPayload>;

/** The public state of a task: the original relay's four. */
export const TaskState = z.enum(['pending', 'running', 'done', 'failed']);
export type TaskState = z.infer<typeof TaskState>;

/** Where a task stands exactly. */
export const TaskSubState = z.enum([
  'queued',
  'offered',
  'working',
  'input_required',
  'cancelling',
  'done',
  'failed',
  'cancelled',
  'dead',
]);
export type TaskSubState = z.infer<typeof TaskSubState>;

/** A row of the task table as others see it; times are ms since epoch. */
export const TaskRow = z.object({
  task_id: TaskId,
  owner: z.string(),
  target: z.string(),
  state: TaskState,
  sub_state: TaskSubState,
  attempt: z.int().nonnegative(),
  agent: z.string().nullable(),
  reason: z.string().nullable(),
  parent: z.string().nullable(),
  created: z.int(),
  updated: z.int(),
  /** The result's summary, once there is one. */
  summary: z.string().nullable(),
});
export type TaskRow = z.infer<typeof TaskRow>;

/** An agent as others see it. */
export const AgentRow = z.object({
  name: z.string(),
  level: z.union([z.literal(0), z.literal(1)]),
  roles: z.array(Role),
  title: z.string().optional(),
  connected: z.int(),
  last_seen: z.int(),
  tasks: z.array(z.string()),
});
export type AgentRow = z.infer<typeof AgentRow>;
