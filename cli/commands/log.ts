import { Command, InvalidArgumentError } from 'commander';
import { AppError } from '../../base/errors.ts';
import { onlyOne, parseCount, parseList, parsePort, parseSpeed } from '../options.ts';
import type { LogFilter } from '../read/filter.ts';
import { addSourceOptions, type SourceOptions } from '../read/open-source.ts';
import { parseSince } from '../read/since.ts';

interface Options extends SourceOptions {
  readonly task?: readonly string[];
  readonly type?: readonly string[];
  readonly agent?: readonly string[];
  readonly since?: number;
  readonly last?: number;
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly story?: string;
  readonly full?: boolean;
  readonly export?: string;
  readonly force?: boolean;
  readonly replay?: string;
  readonly port?: number;
  readonly speed?: number;
}

/** `npc-crew log`: what was said in a run, for people and for programs. */
export function logCommand(): Command {
  return addSourceOptions(new Command('log'))
    .description('show what was said in a run, or follow it, or one task of it')
    .option(
      '--task <ID>',
      'only this task and what hangs below it, by its id or a part of it: a run key means the whole run, code its coding tasks; here and below: several with commas, or the option again',
      parseList,
    )
    .option('--type <TYPE>', 'only frames of this type, or events of this type', parseList)
    .option('--agent <NAME>', 'only what this agent sent or got', parseList)
    .option('--since <TIME>', 'only what is newer: 10m, 2h, 19:00, 2026-11-30, "2026-11-30 19:00", ISO 8601', since)
    .option('-n, --last <N>', 'only the newest N of them', parseCount)
    .option('-f, --follow', 'go on with what comes, until Ctrl-C or the end of the hub')
    .option('--json', 'one frame a line, as JSON')
    .option('--story <TASK>', 'one task as a tree: who asked, attempts, waits, questions, results, sub-tasks')
    .option('--full', 'with --story: every event of the work, not just their number')
    .option('--export <FILE>', 'write the frames to a file (- is stdout, .gz is packed), with secrets masked')
    .option('--force', 'with --export: write over a file that is there')
    .option(
      '--replay <FILE>',
      'show the messages of a log file on a hub of its own, until Ctrl-C; nobody gets them as mail, and it takes no new ones',
    )
    .option('--port <N>', 'with --replay: port to listen on; default: a free one', parsePort)
    .option('--speed <N>', 'with --replay: N times as fast as it was; default: all at once', parseSpeed)
    .addHelpText(
      'after',
      `
Examples:
  $ npc-crew log                               the newest run
  $ npc-crew log --follow -n 20                its newest 20 messages, then what comes
  $ npc-crew log --since 10m --agent coder-1   the last ten minutes of one agent
  $ npc-crew log --type task.result --json     the results, for jq
  $ npc-crew log --story code                  how the task "code" went
  $ npc-crew log --file run.jsonl.gz           a log kept from a run
  $ npc-crew log --export run.jsonl.gz         keep one, to hand on
  $ npc-crew log --replay run.jsonl.gz         look at it with tasks, watch, a browser`,
    )
    .action(act);
}

async function act(options: Options): Promise<void> {
  const { task, type, agent } = options;
  const filter: LogFilter = {
    ...(task && { tasks: task }),
    ...(type && { types: type }),
    ...(agent && { agents: agent }),
    ...(options.since !== undefined && { since: options.since }),
  };
  mustGoTogether(options);
  if (options.replay !== undefined) {
    const { replayLog } = await import('../log/replay-log.ts');
    await replayLog({ ...options, replay: options.replay });
    return;
  }
  if (options.story !== undefined) {
    const { tellStory } = await import('../log/tell-story.ts');
    await tellStory(options.story, options);
    return;
  }
  if (options.export !== undefined) {
    const { exportLog } = await import('../log/export-log.ts');
    await exportLog({ ...options, export: options.export }, filter);
    return;
  }
  const { showLog } = await import('../log/show-log.ts');
  await showLog(options, filter);
}

/** Refuses what cannot be wanted together. */
function mustGoTogether(options: Options): void {
  const named = (names: Readonly<Record<string, unknown>>) =>
    Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const { story, follow, replay, task, type, agent, since, last, full, port, speed, hub, file, json } = options;
  onlyOne({ '--story': story, '--follow': follow, '--export': options.export, '--replay': replay });
  const [filter] = named({ '--task': task, '--type': type, '--agent': agent, '--since': since, '--last': last });
  if (story !== undefined && filter !== undefined) {
    throw new AppError('usage', `--story tells one task as a whole and does not take ${filter}; leave one of them out`);
  }
  const [other] = named({ '--hub': hub, '--file': file, '--json': json });
  if (replay !== undefined && (filter ?? other) !== undefined) {
    throw new AppError(
      'usage',
      `--replay takes the file as it is, without ${filter ?? other}; filter what you look at there`,
    );
  }
  if (full && story === undefined) throw new AppError('usage', '--full belongs to --story, as in --story code --full');
  if (options.force && options.export === undefined) {
    throw new AppError('usage', '--force belongs to --export, as in --export run.jsonl.gz --force');
  }
  const [pace] = named({ '--port': port, '--speed': speed });
  if (replay === undefined && pace !== undefined) {
    throw new AppError('usage', `${pace} belongs to --replay, as in --replay run.jsonl.gz ${pace} 10`);
  }
}

function since(text: string): number {
  try {
    return parseSince(text, Date.now());
  } catch (error) {
    throw error instanceof AppError ? new InvalidArgumentError(error.message) : error;
  }
}
