import { backoff, sleep } from '../../base/time.ts';
import { UpstreamError } from './errors.ts';

/** How failed tries are repeated; times in ms. */
export interface RetryOptions {
  /** Tries in all, the first one included. Default 5. */
  readonly attempts: number;
  /** First back-off; doubles each time, with full jitter. Default 1000. */
  readonly baseMs: number;
  /** Longest back-off. Default 30 000. */
  readonly capMs: number;
  /** Longest wait that a provider may ask for; a longer one is reported instead. Default 120 000. */
  readonly maxWaitMs: number;
  /** No new try begins this long after the first one. Default 900 000. */
  readonly totalMs: number;
  /** Whether a wait is waited. Default true. */
  readonly waits?: boolean;
}

export const defaultRetry: RetryOptions = {
  attempts: 5,
  baseMs: 1000,
  capMs: 30_000,
  maxWaitMs: 120_000,
  totalMs: 900_000,
};

/** Runs `attempt` (counted from 1) until it succeeds, fails for good, or tries and time are used up; then rejects with the last error. */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  options: RetryOptions & {
    readonly signal: AbortSignal;
    /** Told before each wait. */
    readonly onWait: (error: UpstreamError, ms: number, attempt: number) => void;
    /** How much time the whole work has left, ms. */
    readonly timeLeftMs?: (() => number) | undefined;
  },
): Promise<T> {
  const started = performance.now();
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof UpstreamError) || !error.retryable || number >= options.attempts) throw error;
      const wait = options.waits === false ? 0 : waitBefore(error, number, options);
      const left = Math.min(options.totalMs - (performance.now() - started), options.timeLeftMs?.() ?? Infinity);
      if ((error.waitMs ?? 0) > options.maxWaitMs || wait > left) throw error;
      if (options.waits === false) continue;
      options.onWait(error, wait, number);
      await sleep(wait, options.signal);
    }
  }
}

/** What the provider asked for plus a little jitter, so that waiting agents do not all come back at once; else back-off. */
function waitBefore(error: UpstreamError, number: number, options: RetryOptions): number {
  if (error.waitMs === undefined) return backoff(number - 1, options);
  return error.waitMs + Math.random() * Math.min(1000, error.waitMs / 10);
}
