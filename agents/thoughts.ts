import { cutLines } from '../base/line-cutter.ts';
import type { LoopEvent } from '../protocol/index.ts';

/** Logs thinking line by line while it streams in; `finish` waits until all of it is logged. */
export function createThoughtLog(record: (event: LoopEvent) => Promise<void>) {
  let logged: Promise<void> = Promise.resolve();
  const cutter = cutLines((line) => {
    logged = logged.then(() => record({ type: 'model.thought', line }));
    // Whoever awaits `finish` gets the failure; until then it must not count as unhandled.
    logged.catch(() => {});
  });
  return {
    push: (text: string) => cutter.push(text),
    finish(): Promise<void> {
      cutter.end();
      return logged;
    },
  };
}
