import { AppError } from '../base/errors.ts';
import type { Envelope } from '../protocol/index.ts';
import { logged } from './inspect.ts';
import { openStorage } from './sqlite-storage.ts';
import type { DeadLetter } from './storage.ts';

/** A message that was never handed over, as others see it; `died_at` is ms since epoch. */
export interface DeadRow {
  readonly lsn: number;
  /** Name whose mailbox it was in. */
  readonly box: string;
  readonly reason: string;
  readonly died_at: number;
  readonly frame: Envelope;
}

export function toDeadRow({ lsn, box, reason, diedAt, message }: DeadLetter): DeadRow {
  return { lsn, box, reason, died_at: diedAt, frame: JSON.parse(logged(message)) };
}

/** Takes dead letters off the list of a database that no hub has open; returns how many were on it. Throws `damaged_state`. */
export async function dropDeadLetters(path: string, lsns: readonly number[]): Promise<number> {
  const { storage, setAside } = await openStorage(path);
  try {
    if (setAside !== undefined) {
      throw new AppError(
        'damaged_state',
        `the log ${path} was damaged and lies in ${setAside} now; a new one was begun`,
      );
    }
    const found: number[] = [];
    for (const lsn of lsns) {
      const [letter] = await storage.deadLetters(lsn - 1, 1);
      if (letter?.lsn === lsn) found.push(lsn);
    }
    if (found.length > 0) await storage.commit([{ kind: 'drop_dead', lsns: found }], Date.now());
    return found.length;
  } finally {
    await storage.close();
  }
}
