import { Command } from 'commander';
import { AppError } from '../../base/errors.ts';
import { print } from '../print.ts';
import { newestRun } from '../read/newest-run.ts';
import { addSourceOptions, openSource, type SourceOptions } from '../read/open-source.ts';
import { storyLines } from '../show/story.ts';

/** `npc-crew report`: what a run did and what its verdict stands on. */
export function reportCommand(): Command {
  return addSourceOptions(new Command('report'))
    .description('show what a run did and what its verdict stands on')
    .option('--json', 'one line of JSON')
    .option('--html', 'not yet: the self-contained page is still to come')
    .addHelpText('after', '\nExamples:\n  $ npc-crew report\n  $ npc-crew report --file run.jsonl.gz --json')
    .action(async (options: SourceOptions & { json?: boolean; html?: boolean }) => {
      if (options.html)
        throw new AppError('usage', 'report --html is not there yet; leave --html out for the same as text');
      const source = await openSource(options);
      try {
        const story = await newestRun(source);
        if (!story) throw new AppError('not_found', 'this log holds no run; npc-crew log shows what it holds');
        const tasks = (await source.tasks()).filter((task) => task.task_id.startsWith(`${story.runKey}.`));
        const columns = process.stdout.isTTY ? { columns: process.stdout.columns } : {};
        const lines = options.json
          ? [JSON.stringify({ ...story, tasks })]
          : storyLines(story, tasks, { now: Date.now(), ...columns });
        for (const line of lines) await print(line);
      } finally {
        await source.close();
      }
    });
}
