import type { ErrorCode } from '../protocol/index.ts';

/** What an `error` frame may add to its code and message. */
export interface ErrorFacts {
  /** Id and type of the frame at fault. */
  readonly ref?: string | undefined;
  readonly refType?: string | undefined;
  readonly taskId?: string | undefined;
  readonly retryAfterMs?: number;
  readonly details?: unknown;
}

const retryable: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'offline',
  'mailbox_full',
  'timeout',
  'shutting_down',
  'internal',
]);

/** A frame of the hub itself, as JSON. */
export function hubFrame(
  type: string,
  to: string,
  payload: unknown,
  extra: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({ type, from: 'hub', to, task_id: '', payload, ...extra });
}

/** An `error` frame as JSON. */
export function errorFrame(to: string, code: ErrorCode, message: string, facts: ErrorFacts = {}): string {
  const payload = {
    code,
    message,
    retryable: retryable.has(code),
    ...(facts.retryAfterMs !== undefined && { retry_after_ms: facts.retryAfterMs }),
    ...(facts.refType !== undefined && { ref_type: facts.refType }),
    ...(facts.details !== undefined && { details: facts.details }),
  };
  return hubFrame('error', to, payload, {
    ...(facts.taskId !== undefined && { task_id: facts.taskId }),
    ...(facts.ref !== undefined && { ref: facts.ref }),
  });
}

/** Adds keys to a JSON object without reading it. */
export function splice(body: string, keys: string): string {
  return `${body.slice(0, -1)},${keys}}`;
}
