import { setTimeout as delay } from 'node:timers/promises';

/** The clocks a room uses, so that a test can scale or step them. `now` is wall time, `monotonic` never steps back; both in ms. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Calls `callback` once after `ms`; the handle cancels. Does not keep the process alive. */
  after(ms: number, callback: () => void): { cancel(): void };
}

/** The longest that a timer of Node runs, ms; what is longer fires at once. */
export const LONGEST_TIMER = 2_147_483_647;

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, callback) {
    const end = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const wind = (left: number): void => {
      timer = setTimeout(
        () => (left > LONGEST_TIMER ? wind(end - performance.now()) : callback()),
        Math.min(left, LONGEST_TIMER),
      );
      timer.unref();
    };
    wind(ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Waits `ms`, or rejects with the signal's reason when it is aborted first. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    let left = ms;
    do {
      await delay(Math.min(left, LONGEST_TIMER), undefined, signal ? { signal } : {});
      left -= LONGEST_TIMER;
    } while (left > 0);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Exponential back-off with full jitter: a random wait below `base * 2^attempt`, capped. Milliseconds; attempt counts from 0. */
export function backoff(attempt: number, options: { baseMs: number; capMs: number }): number {
  return Math.random() * Math.min(options.capMs, options.baseMs * 2 ** attempt);
}
