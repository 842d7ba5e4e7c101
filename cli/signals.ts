/** Signals that ask a command to end. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const names: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** A terminal sends Ctrl-C to the whole process group and the supervisor hands it on: two within this time are one. */
const SAME_MS = 1000;

/** Resolves with the first signal that asks to end. A second one, later, ends the process on the spot. */
export function untilSignal(): Promise<EndSignal> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const name of names) {
      process.on(name, () => {
        if (first === undefined) {
          first = performance.now();
          resolve(name);
        } else if (performance.now() - first > SAME_MS) process.exit(exitCodeOfSignal(name));
      });
    }
  });
}

/** 128 + the signal's number, as shells have it. */
export function exitCodeOfSignal(signal: EndSignal): number {
  return { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal];
}
