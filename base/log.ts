import type { Logger } from 'pino';
import { pino } from 'pino';

/** Diagnostics (pino). `cli` makes one and passes it in; a room takes `log.child({ room })`. */
export type Log = Logger;

/** A log that writes nowhere, for tests and for commands without a state folder. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}
