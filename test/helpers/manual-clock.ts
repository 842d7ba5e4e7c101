import type { Clock } from '../../base/time.ts';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves on by `ms` and fires, in order, what falls due. */
  advance(ms: number): void;
  /** Sets the wall clock off by `ms`, as a correction of the machine's time does. */
  stepWall(ms: number): void;
}

/** Starts at the machine's wall time. */
export function manualClock(): ManualClock {
  const timers = new Set<{ at: number; callback: () => void }>();
  let monotonic = 0;
  let wall = Date.now();
  return {
    now: () => wall,
    monotonic: () => monotonic,
    after(ms, callback) {
      const timer = { at: monotonic + ms, callback };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
    advance(ms) {
      const end = monotonic + ms;
      for (;;) {
        const [due] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (due === undefined) break;
        timers.delete(due);
        wall += due.at - monotonic;
        monotonic = due.at;
        due.callback();
      }
      wall += end - monotonic;
      monotonic = end;
    },
    stepWall(ms) {
      wall += ms;
    },
  };
}
