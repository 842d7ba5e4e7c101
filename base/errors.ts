/**
 * What can go wrong inside the program, as a closed list. A code decides the exit code (cli) and the cause in a verdict
 * (coordinator); the message says what was wrong, where, and how to mend it.
 */
export type AppErrorCode =
  | 'usage'
  | 'misconfigured'
  | 'port_in_use'
  | 'damaged_state'
  | 'not_found'
  | 'refused'
  | 'timeout'
  | 'disconnected'
  | 'wire'
  | 'git'
  | 'forge'
  | 'model'
  | 'disk_full'
  | 'cancelled'
  | 'internal';

/** The one error class: `code` for programs, `message` for people, `cause` for diagnostics, `details` for both. */
export class AppError extends Error {
  readonly code: AppErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: AppErrorCode,
    message: string,
    options: { cause?: unknown; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The text of anything that was thrown, for a message to a person. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
