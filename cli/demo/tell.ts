import { execFile } from 'node:child_process';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import colors from 'picocolors';
import type { Environment } from '../../config/index.ts';
import { readTasks } from '../../hub/index.ts';
import { taskTable } from '../show/task-table.ts';
import type { Played } from './outcome.ts';
import type { Stage } from './stage.ts';

const run = promisify(execFile);
const launcher = fileURLToPath(new URL('../../../bin/npc-crew', import.meta.url));

/** What a person sees at the end: the comment, the diff, the tasks, where things are, and how to do it for real. */
export async function tellOutcome(played: Played, stage: Stage, env: Environment): Promise<string[]> {
  const { outcome, comment, pull } = played;
  const { state_dir: folder, clone_url: clone } = outcome;
  const command = relative(process.cwd(), launcher) || launcher;
  const end =
    outcome.verdict === 'green'
      ? colors.green('green')
      : colors.red([outcome.verdict ?? 'no verdict', outcome.cause].join(' / '));
  return [
    ...section(
      'The comment, as the user sees it',
      (comment?.body ?? '(there is none)').replace(/^<!--.*?-->\n?/, '').split('\n'),
    ),
    ...section(
      pull ? `Pull request ${pull.number}: ${pull.title} (${pull.head.branch} → ${pull.base})` : 'No pull request',
      pull ? await diffOf(clone, pull, env) : [],
    ),
    ...section(
      'The tasks',
      taskTable(played.story ? await readTasks(join(folder, 'log.db')) : [], { now: Date.now() }),
    ),
    ...section('Where it is', [
      `log       ${command} log --state ${folder}`,
      `story     ${command} report --state ${folder}`,
      `branch    git clone ${pull ? `-b ${pull.head.branch} ` : ''}${clone}`,
    ]),
    ...section('The same with a real model', [
      'export OPENAI_BASE_URL=https://…/v1 OPENAI_API_KEY=… NPC_MODEL=…',
      `git clone ${clone} shop`,
      `${command} run --repo shop --goal "${stage.issue.title}。${stage.request}"`,
    ]),
    '',
    `${end} in ${outcome.seconds} s: ${outcome.messages} messages, ${outcome.tests_run.length} test runs, ${outcome.comment_count} comment${outcome.comment_count === 1 ? '' : 's'}`,
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', colors.bold(`── ${title} ──`), ...lines];
}

async function diffOf(clone: string, pull: { base: string; headSha: string }, env: Environment): Promise<string[]> {
  const { stdout } = await run('git', ['-C', clone, 'diff', '--no-color', `${pull.base}...${pull.headSha}`], { env });
  return stdout.trimEnd().split('\n');
}
