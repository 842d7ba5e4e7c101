import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capText } from '../../base/cap-text.ts';
import { createMasker } from '../../base/mask.ts';
import { type AssignedTask, type HubClient, serveTasks } from '../../hub-client/index.ts';
import type { TaskResultPayload } from '../../protocol/index.ts';
import { endTask, ownTree } from '../../tools/lib/end-task.ts';
import { runCommand } from '../../tools/lib/run-command.ts';
import { plainText } from '../../tools/lib/terminal-text.ts';
import { checkCommandLine, fillCommandLine } from './command-line.ts';
import { readResult } from './read-result.ts';
import { writeTaskSheet } from './task-file.ts';

export interface ExternalAgentOptions {
  /** Connected with the role among its roles. */
  readonly client: HubClient;
  readonly role: string;
  /** Command line for `sh -c`: `{task}` is the path of a Markdown file, `{result}` that of the file to write. */
  readonly exec: string;
  /** The program's whole environment: an allow-list, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** More environment for one attempt, such as the address and the token of the model gateway. */
  readonly attemptEnv?: (task: AssignedTask) => Promise<Readonly<Record<string, string>>>;
  /** Folder for tasks that name no work tree. */
  readonly cwd: string;
  /** What the role's duty is, as Markdown; a built-in role's prompt. */
  readonly guide?: string;
  /** Values that no log and no result may hold; those of `attemptEnv` are known anyway. */
  readonly secrets?: readonly string[];
  /** Gets each line that the program prints. */
  readonly say?: (line: string) => void;
}

/** Program output that is logged with its end. */
const TAIL = { maxBytes: 8000, maxLines: 100, maxLine: 500 };

/**
 * Plays a role with another coding program: each task runs the command once, in the task's work tree, else in `cwd`. Returns what stops
 * it. Throws `usage` when the command line has no `{task}`.
 */
export function runExternalAgent(options: ExternalAgentOptions): () => Promise<void> {
  checkCommandLine(options.exec);
  return serveTasks(options.client, (task) => play(task, options));
}

async function play(task: AssignedTask, options: ExternalAgentOptions): Promise<TaskResultPayload> {
  // Outside the work tree, so that neither file is committed.
  const folder = await mkdtemp(join(tmpdir(), 'npc-task-'));
  const more = (await options.attemptEnv?.(task)) ?? {};
  const env = { ...options.env, ...more, NPC_TASK: task.id };
  const own = await ownTree(task.payload);
  const tree = own ?? options.cwd;
  const tokens = Object.entries(more).flatMap(([name, value]) => (/KEY|TOKEN|SECRET/i.test(name) ? [value] : []));
  const { mask } = createMasker([...(options.secrets ?? []), ...tokens]);
  try {
    // What a killed attempt left behind must not write into the tree beside this one.
    if (task.attempt > 1) await endTask({ cwd: tree, tree: own, env });
    return await runProgram(task, options, { folder, tree, isOwn: own !== undefined, env, mask });
  } finally {
    await endTask({ cwd: tree, tree: own, env });
    await rm(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly folder: string;
  readonly tree: string;
  readonly isOwn: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly mask: (text: string) => string;
}

async function runProgram(task: AssignedTask, options: ExternalAgentOptions, place: Place): Promise<TaskResultPayload> {
  const { role, exec } = options;
  const paths = { task: join(place.folder, 'task.md'), result: join(place.folder, 'result.json') };
  const resultPath = exec.includes('{result}') ? paths.result : undefined;
  const { payload, attempt } = task;
  const sheet = writeTaskSheet({ ...place, role, guide: options.guide, payload, attempt, resultPath });
  await writeFile(paths.task, sheet);
  await task.event({ type: 'program.started', command: exec });
  const started = performance.now();
  const end = await runCommand({
    file: 'sh',
    args: ['-c', fillCommandLine(exec, paths)],
    cwd: place.tree,
    env: place.env,
    signal: task.signal,
    onOutput: (text) => {
      task.alive();
      for (const line of plainText(text).split('\n')) if (line.trim() !== '') options.say?.(place.mask(line));
    },
  });
  const tail = capText(place.mask(plainText(end.output).trimEnd()), TAIL).text;
  const exit = end.signal ?? end.exit ?? 'no exit code';
  const ms = Math.round(performance.now() - started);
  await task.event({ type: 'program.ended', exit, ms, tail, left: end.left.map(({ command }) => command) });
  const file = await readIfThere(resultPath);
  const stdout = place.mask(plainText(end.stdout));
  return readResult({ role, exit, file: file && place.mask(file), stdout, tail });
}

async function readIfThere(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
