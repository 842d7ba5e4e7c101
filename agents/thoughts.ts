import type { LoopEvent } from '../protocol/index.ts';

/** Logs thinking line by line while it streams in; `finish` waits until all of it is logged. */
export function createThoughtLog(record: (event: LoopEvent) => Promise<void>) {
  let rest = '';
  let logged: Promise<void> = Promise.resolve();

  function log(lines: readonly string[]): void {
    for (const line of lines) {
      if (line.trim() !== '') logged = logged.then(() => record({ type: 'model.thought', line }));
    }
    // Whoever awaits `finish` gets the failure; until then it must not count as unhandled.
    logged.catch(() => {});
  }

  return {
    push(text: string): void {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      log(lines);
    },
    finish(): Promise<void> {
      log([rest]);
      rest = '';
      return logged;
    },
  };
}
