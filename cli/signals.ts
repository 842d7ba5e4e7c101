/** Signals that ask a command to end. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndSignal = (typeof endSignals)[number];

/** Exit codes as shells have them: 128 + the signal's number. */
export const exitBySignal: Readonly<Record<EndSignal, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** A terminal sends Ctrl-C to the whole process group and the supervisor hands it on: two within this time are one. */
const SAME_MS = 1000;

/**
 * A signal that is aborted, with the name as its reason, when this process is asked to end. Asked again later, or when `graceMs`
 * have passed and it still runs, the process ends on the spot.
 */
export function abortOnSignal(graceMs = 15_000): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  for (const name of endSignals) {
    process.on(name, () => {
      if (first === undefined) {
        first = performance.now();
        setTimeout(() => process.exit(exitBySignal[name]), graceMs).unref();
        controller.abort(name);
      } else if (performance.now() - first > SAME_MS) process.exit(exitBySignal[name]);
    });
  }
  return controller.signal;
}

/** Resolves with the signal's name when it is aborted. */
export async function aborted(signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return String(signal.reason);
}
