import { z } from 'zod';

/** Version of the protocol that `hello` speaks. */
export const PROTOCOL_VERSION = 1;

/** What a name may be, in words. */
export const nameRule = 'a name is 1-64 of A-Z a-z 0-9 _ -, begins with a letter or digit, and is not "hub"';

/** An agent's name on the hub; `hub` is reserved. */
export const AgentName = z.string().regex(/^(?!hub$)[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, nameRule);

/** A role, as in `role:coder`. */
export const Role = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'a role is 1-32 of a-z 0-9 _ -, starting with a letter');

/** A task's id; `""` outside a task, the run key itself for a run's own frames. */
export const TaskId = z.string().regex(/^[A-Za-z0-9._:-]{0,128}$/, 'a task_id is 0-128 of A-Z a-z 0-9 . _ : -');

/** What every frame carries: five fields at the top level for ever, and optional keys beside them. */
export const envelope = z.looseObject({
  type: z.string().min(1).max(64),
  /** Sender. The hub overwrites it with the connection's name. */
  from: z.string().max(64),
  /** `name`, `role:R`, `role:R/*` (all of a role), `*` (everybody) or `hub`. */
  to: z.string().max(128),
  task_id: TaskId,
  payload: z.unknown(),
  /** Protocol version; absent means level 0. */
  v: z.literal(PROTOCOL_VERSION).optional(),
  /** Idempotency key together with `from`; the hub makes one (UUIDv7) when it is missing. */
  id: z.string().min(1).max(128).optional(),
  /** Id of the frame that this one answers. */
  ref: z.string().max(128).optional(),
  /** Number in the recipient's mailbox, set by the hub towards level 1; grows, but not by one. */
  seq: z.int().nonnegative().optional(),
  /** The number before `seq` in that mailbox, so that a gap shows. */
  prev: z.int().nonnegative().optional(),
  /** Position in the hub's log, a total order; set by the hub. */
  lsn: z.int().nonnegative().optional(),
  /** Milliseconds since epoch at commit; set by the hub. */
  ts: z.int().nonnegative().optional(),
  /** Fence of a task: which attempt this frame belongs to. */
  attempt: z.int().positive().optional(),
  /** How often this frame was delivered before. */
  redelivered: z.int().positive().optional(),
  /** Vendor keys, relayed untouched; the hub adds `claimed_from` when `from` was not the sender's name. */
  meta: z.record(z.string(), z.unknown()).optional(),
});
export type Envelope = z.infer<typeof envelope>;

/** What a level-0 peer may leave out; the hub fills it in. */
export const looseEnvelope = envelope.partial({ from: true, to: true, task_id: true, payload: true });

/** A target taken apart. */
export type Target =
  | { readonly kind: 'hub' }
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'role'; readonly role: string; readonly all: boolean }
  | { readonly kind: 'everyone' };

/** Reads a frame's `to`; undefined when it is no target at all. */
export function parseTarget(to: string): Target | undefined {
  if (to === 'hub') return { kind: 'hub' };
  if (to === '*') return { kind: 'everyone' };
  if (to.startsWith('role:')) {
    const all = to.endsWith('/*');
    const role = to.slice(5, all ? -2 : undefined);
    return Role.safeParse(role).success ? { kind: 'role', role, all } : undefined;
  }
  return AgentName.safeParse(to).success ? { kind: 'agent', name: to } : undefined;
}
