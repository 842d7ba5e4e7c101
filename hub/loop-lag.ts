import type { Histogram } from './counters.ts';

/** How often the event loop is looked at, ms: a standstill of that length cannot be missed. */
const EVERY = 50;

/** Notes how late the event loop is, in seconds, until it is told to stop. */
export function watchLoop(lag: Histogram): () => void {
  let due = performance.now() + EVERY;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.observe(Math.max(0, now - due) / 1000);
    due = now + EVERY;
  }, EVERY);
  timer.unref();
  return () => clearInterval(timer);
}
