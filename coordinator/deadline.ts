import { adviceFor } from './advice.ts';
import type { Trigger } from './trigger.ts';
import { decide, endRun, RunEnd } from './verdict.ts';

/** Parts of the time until the deadline after which no task starts, and after which the run wraps up. */
const LAST_START = 0.85;
const WRAP_UP = 0.95;

export interface Deadline {
  /** Throws `RunEnd` when a task that starts now would hardly end in time. */
  mayStart(): void;
  cancel(): void;
}

/** Watches the build's deadline; `onWrapUp` is called when the run must end now. */
export function watchDeadline(trigger: Trigger, startedAt: number, onWrapUp: (end: RunEnd) => void): Deadline {
  const { deadline } = trigger;
  if (deadline === undefined) return { mayStart: () => {}, cancel: () => {} };
  const at = (part: number): number => startedAt + (deadline - startedAt) * part;
  const advice = adviceFor('time_limit', trigger);
  // a timer takes no more than 2^31 - 1 ms
  const wait = Math.min(at(WRAP_UP) - Date.now(), 2_147_483_647);
  const timer = setTimeout(() => onWrapUp(new RunEnd(decide('time_limit', '', advice))), wait);
  return {
    mayStart() {
      if (Date.now() > at(LAST_START)) endRun('time_limit', '', advice);
    },
    cancel: () => clearTimeout(timer),
  };
}
