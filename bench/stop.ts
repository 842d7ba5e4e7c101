import type { Children } from './children.ts';

/** Runs a bench to its end, or until Ctrl-C: its processes and folders are gone afterwards in any case, and undefined comes back then. */
export async function untilStopped<T>(children: Children, bench: () => Promise<T>): Promise<T | undefined> {
  let stopped = false;
  const stop = (signal: NodeJS.Signals) => {
    stopped = true;
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
    void children.clear();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    return await bench();
  } catch (error) {
    // What is under way fails when its processes are ended.
    if (!stopped) throw error;
    return undefined;
  } finally {
    await children.clear();
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}
