import { Command } from 'commander';
import { AppError } from '../../base/errors.ts';
import { nearest } from '../../base/nearest.ts';
import { type TaskRow, TaskState, TaskSubState } from '../../protocol/index.ts';
import { parseList } from '../options.ts';
import { print } from '../print.ts';
import { findTask } from '../read/find-task.ts';
import { addSourceOptions, openSource, type SourceOptions } from '../read/open-source.ts';
import type { Source } from '../read/source.ts';
import { stuckTasks } from '../read/stuck.ts';
import { stuckTable } from '../show/stuck-table.ts';
import { taskTable } from '../show/task-table.ts';
import { Timeline } from '../show/timeline.ts';
import { answerCommand, cancelCommand, giveCommand } from './tasks-rule.ts';

interface Options extends Omit<SourceOptions, 'state'> {
  readonly state?: readonly string[];
  readonly status?: readonly string[];
  readonly stuck?: boolean;
  readonly json?: boolean;
}

const states: readonly string[] = [...TaskState.options, ...TaskSubState.options];

/** `npc-crew tasks`: the task table of a run, one task of it, or those that do not get on. */
export function tasksCommand(): Command {
  const command = addSourceOptions(new Command('tasks'));
  const folder = command.options.find(({ long }) => long === '--state');
  folder?.argParser((text, before: readonly string[] = []) => [...before, text]);
  return command
    .enablePositionalOptions()
    .addCommand(giveCommand())
    .addCommand(cancelCommand())
    .addCommand(answerCommand())
    .description('show the task table of a run: state, attempts, who, how long; give, cancel or answer a task')
    .argument('[ID]', 'one task, by its id or the end of it: its row, and what happened to it')
    .option(
      '--status <STATE>',
      `only tasks that are ${TaskState.options.join(', ')}, or exactly: queued, working, …; --state does the same`,
      parseList,
    )
    .option('--stuck', 'only tasks that are not over and have not moved for long: why, for how long, and what to do')
    .option('--json', 'one task a line, as JSON')
    .addHelpText(
      'after',
      `
Stuck is: 30 s in the queue with nobody there who could take it, 5 min in the queue behind others, half the silence time
(5 min) without a sign of life, 30 s without an answer to its question, 10 s offered and not accepted.

Examples:
  $ npc-crew tasks
  $ npc-crew tasks --hub ws://127.0.0.1:8765 --status running,pending
  $ npc-crew tasks --stuck
  $ npc-crew tasks give role:coder "fix the failing test" --wait
  $ npc-crew tasks code                 one task, with its timeline (npc-crew log --story code tells more)`,
    )
    .action(act);
}

async function act(id: string | undefined, options: Options): Promise<void> {
  const { folder, wanted } = sorted(options);
  if (id !== undefined && (options.stuck || wanted.length > 0)) {
    throw new AppError('usage', 'one task is shown as it is: leave out its id, or --stuck and --status');
  }
  const { hub, file, tokenFile, json = false } = options;
  const source = await openSource({
    ...(tokenFile !== undefined && { tokenFile }),
    ...(hub !== undefined && { hub }),
    ...(file !== undefined && { file }),
    ...(folder !== undefined && { state: folder }),
  });
  try {
    const fits = ({ state, sub_state }: TaskRow) =>
      wanted.length === 0 || wanted.includes(state) || wanted.includes(sub_state);
    const lines = options.stuck
      ? await stuckLines(source, fits, json)
      : id === undefined
        ? tableLines((await source.tasks()).filter(fits), json, wanted)
        : await oneTask(source, id, json);
    for (const line of lines) await print(line);
  } finally {
    await source.close();
  }
}

/** `--state` names a folder, or, where it is one of their words, the state of tasks. */
function sorted({ state = [], status = [] }: Options): { folder?: string; wanted: readonly string[] } {
  const unknown = status.find((word) => !states.includes(word));
  if (unknown !== undefined) {
    const meant = nearest(unknown, states);
    throw new AppError(
      'usage',
      `--status ${unknown}: no task is ever that${meant === undefined ? '' : `; did you mean ${meant}`}; it is one of ${[...new Set(states)].join(', ')}`,
    );
  }
  const isStates = (text: string) => text.split(',').every((word) => states.includes(word.trim()));
  const folders = state.filter((text) => !isStates(text));
  if (folders.length > 1) throw new AppError('usage', 'only one state folder can be read');
  const named = state.filter(isStates).flatMap((text) => text.split(',').map((word) => word.trim()));
  return { ...(folders[0] !== undefined && { folder: folders[0] }), wanted: [...status, ...named] };
}

function tableLines(tasks: readonly TaskRow[], json: boolean, wanted: readonly string[]): string[] {
  if (json) return tasks.map((task) => JSON.stringify(task));
  if (tasks.length === 0 && wanted.length > 0) return [`no task is ${wanted.join(' or ')}`];
  return taskTable(tasks, { now: Date.now(), ...columns() });
}

async function stuckLines(source: Source, fits: (task: TaskRow) => boolean, json: boolean): Promise<string[]> {
  const stuck = (await stuckTasks(source, Date.now())).filter(({ task }) => fits(task));
  if (json) return stuck.map(({ task, ...why }) => JSON.stringify({ ...task, ...why }));
  return stuckTable(stuck, columns());
}

async function oneTask(source: Source, name: string, json: boolean): Promise<string[]> {
  const rows = await source.tasks();
  const id = findTask(name, rows);
  const task = rows.find(({ task_id }) => task_id === id);
  if (!task) {
    const below = rows.filter(({ task_id }) => task_id.startsWith(`${id}.`));
    return tableLines(below, json, []);
  }
  const timeline = new Timeline(process.stdout.isTTY ? process.stdout.columns : undefined);
  const short: unknown[] = [];
  const lines: string[] = [];
  for await (const frame of source.frames({ taskIds: [id] })) {
    const { lsn, ts, type, from, to, attempt } = frame;
    if (json) short.push({ lsn, ts, type, from, to, attempt, bytes: Buffer.byteLength(JSON.stringify(frame)) });
    else lines.push(...timeline.take(frame));
  }
  if (json) return [JSON.stringify({ ...task, timeline: short })];
  return [...tableLines([task], false, []), '', ...lines, ...timeline.end()];
}

function columns(): { columns?: number } {
  return process.stdout.isTTY ? { columns: process.stdout.columns } : {};
}
