import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long an answer may be at it in one go, ms. */
const SLICE = 5;

/** What a long answer awaits between its pieces: others have their turn whenever it has been at it for a while. */
export function pauses(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < SLICE) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
}
