import { Command } from 'commander';
import { print, say } from '../print.ts';
import { fits, type LogFilter } from '../read/filter.ts';
import { addSourceOptions, openSource, type SourceOptions } from '../read/source.ts';
import { logLine } from '../show/log-line.ts';

type Options = SourceOptions & LogFilter & { json?: boolean };

/** `npc-crew log`: every frame of a run, in order. */
export function logCommand(): Command {
  return addSourceOptions(new Command('log'))
    .description('show what was said in a run')
    .option(
      '--task <ID>',
      'only this task and what hangs below it, by its id or a part of it: a run key means the whole run, code its coding tasks',
    )
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
        let seen = 0;
        let shown = 0;
        for await (const frame of source.frames()) {
          if (process.stdout.destroyed) break;
          seen += 1;
          if (!fits(frame, options)) continue;
          shown += 1;
          await print(options.json ? JSON.stringify(frame) : logLine(frame, columns));
        }
        const isFiltered = (options.task ?? options.type ?? options.agent) !== undefined;
        if (isFiltered && shown === 0) say(`0 of ${seen} messages match`);
      } finally {
        await source.close();
      }
    });
}
