import { Command } from 'commander';
import { print } from '../print.ts';
import { fits, type LogFilter } from '../read/filter.ts';
import { addSourceOptions, openSource, type SourceOptions } from '../read/source.ts';
import { logLine } from '../show/log-line.ts';

type Options = SourceOptions & LogFilter & { json?: boolean };

/** `npc-crew log`: every frame of a run, in order. */
export function logCommand(): Command {
  return addSourceOptions(new Command('log'))
    .description('show what was said in a run')
    .option('--task <ID>', 'only this task and what hangs below it; a run key means the whole run')
    .option('--type <TYPE>', 'only frames of this type, or events of this type')
    .option('--agent <NAME>', 'only what this agent sent or got')
    .option('--json', 'one frame a line, as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ npc-crew log                               the newest run
  $ npc-crew log --type task.result --json     the results, for jq
  $ npc-crew log --file run.jsonl.gz           a log kept from a run`,
    )
    .action(async (options: Options) => {
      const source = await openSource(options);
      try {
        const columns = process.stdout.isTTY ? process.stdout.columns : undefined;
        for await (const frame of source.frames()) {
          if (process.stdout.destroyed) break;
          if (fits(frame, options)) await print(options.json ? JSON.stringify(frame) : logLine(frame, columns));
        }
      } finally {
        await source.close();
      }
    });
}
