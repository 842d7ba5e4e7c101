import { AppError } from '../base/errors.ts';
import { backoff } from '../base/time.ts';

/**
 * How long to wait before a frame that the hub refused for now is sent again, ms; undefined when another try is of no use.
 * `tries` counts from 0.
 */
export function retryPause(thrown: unknown, tries: number): number | undefined {
  if (!(thrown instanceof AppError) || thrown.code !== 'wire' || thrown.details.retryable !== true) return undefined;
  const { retry_after_ms: pause = 0 } = thrown.details as { retry_after_ms?: number };
  return pause + backoff(tries, { baseMs: 250, capMs: 10_000 });
}
