import { AppError, type AppErrorCode } from '../base/errors.ts';

/** What the process says when it ends; the README and `npc-crew --help` list them. */
export const Exit = { ok: 0, fault: 1, usage: 2, red: 3, partial: 4, interrupted: 130, terminated: 143 } as const;

const byCode: Partial<Record<AppErrorCode, number>> = {
  usage: Exit.usage,
  port_in_use: Exit.usage,
  not_found: Exit.usage,
  // a hub that is not there, or does not let us in
  disconnected: Exit.usage,
  refused: Exit.usage,
  misconfigured: Exit.red,
  disk_full: Exit.red,
  cancelled: Exit.interrupted,
};

/** The exit code for something that was thrown. */
export function exitCodeOf(thrown: unknown): number {
  return (thrown instanceof AppError && byCode[thrown.code]) || Exit.fault;
}
