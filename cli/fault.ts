import { AppError, messageOf } from '../base/errors.ts';
import { openDiagnostics } from './diagnostics.ts';
import { Exit, exitCodeOf } from './exit-code.ts';
import { makeFolder } from './make-folder.ts';
import { say } from './print.ts';

/**
 * Tells a person in one line what went wrong and returns the exit code. Where it is our own fault, the details go to
 * `diagnostics.jsonl` in `folder`.
 */
export function reportFault(thrown: unknown, folder: string, tell: (line: string) => void = say): number {
  const { code: reason } = (thrown ?? {}) as { code?: unknown };
  if (reason === 'ENOSPC') {
    tell(`npc-crew: no room is left to write: ${messageOf(thrown)}`);
    return Exit.red;
  }
  const code = exitCodeOf(thrown);
  const line = messageOf(thrown).split('\n')[0] ?? '';
  if (thrown instanceof AppError && thrown.code !== 'internal') {
    tell(`npc-crew: ${line}`);
    return code;
  }
  const where = keep(thrown, folder) ? `; details in ${folder}/diagnostics.jsonl` : '';
  tell(`npc-crew: a fault of its own: ${line}${where}`);
  return code;
}

function keep(thrown: unknown, folder: string): boolean {
  try {
    makeFolder(folder);
    openDiagnostics(folder, 'info').error({ err: thrown }, 'fault');
    return true;
  } catch {
    // a full or read-only disk must not hide the fault itself
    return false;
  }
}
