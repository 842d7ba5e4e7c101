import { z } from 'zod';

/** Codes of `error` frames (HTTP bodies before the upgrade use them too). */
export const ErrorCode = z.enum([
  'bad_json',
  'bad_frame',
  'unknown_type',
  'too_large',
  'rate_limited',
  'unauthorized',
  'forbidden',
  'name_taken',
  'no_such_agent',
  'no_worker',
  'offline',
  'mailbox_full',
  'no_such_task',
  'bad_state',
  'stale_attempt',
  'duplicate_id_conflict',
  'lease_lost',
  'timeout',
  'cancelled',
  'unsupported_version',
  'shutting_down',
  'internal',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** WebSocket close codes. Below 4500: reconnect. From 4500: do not. */
export const CloseCode = {
  shutdown: 4000,
  heartbeat: 4001,
  slowConsumer: 4002,
  replaced: 4003,
  rate: 4004,
  resumeLost: 4005,
  helloMissing: 4500,
  tooManyErrors: 4501,
  unauthorized: 4502,
  unsupportedVersion: 4503,
  evicted: 4504,
} as const;
export type CloseCode = (typeof CloseCode)[keyof typeof CloseCode];

/** Whether a client that was closed with `code` should connect again. */
export function mayReconnect(code: number): boolean {
  return code < 4500;
}
