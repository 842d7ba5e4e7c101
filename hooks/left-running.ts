import type { Hook } from '../core/hook.ts';

/** Refuses a result while something that the task started still runs. `running` describes each such process in a line. */
export function leftRunning(running: () => readonly string[] | Promise<readonly string[]>): Hook {
  return {
    name: 'left-running',
    at: {
      async 'submit.before'() {
        const processes = await running();
        if (processes.length === 0) return undefined;
        return {
          refuse: `what you started is still running: ${processes.slice(0, 5).join('; ')}. Wait for it if you need its result, else end it (kill PID). Nothing goes on after you hand in.`,
        };
      },
    },
  };
}
