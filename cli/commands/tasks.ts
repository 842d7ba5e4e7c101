import { Command } from 'commander';
import { print } from '../print.ts';
import { addSourceOptions, openSource, type SourceOptions } from '../read/open-source.ts';
import { taskTable } from '../show/task-table.ts';

/** `npc-crew tasks`: the task table of a run. */
export function tasksCommand(): Command {
  return addSourceOptions(new Command('tasks'))
    .description('show the task table of a run: state, attempts, who, how long')
    .option('--json', 'one task a line, as JSON')
    .addHelpText('after', '\nExamples:\n  $ npc-crew tasks\n  $ npc-crew tasks --hub ws://127.0.0.1:8765')
    .action(async (options: SourceOptions & { json?: boolean }) => {
      const source = await openSource(options);
      try {
        const tasks = await source.tasks();
        const lines = options.json
          ? tasks.map((task) => JSON.stringify(task))
          : taskTable(tasks, { now: Date.now(), ...(process.stdout.isTTY && { columns: process.stdout.columns }) });
        for (const line of lines) await print(line);
      } finally {
        await source.close();
      }
    });
}
