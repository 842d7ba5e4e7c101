import type { Log } from '../base/log.ts';
import type { GateRun } from '../protocol/index.ts';
import { buildCandidate } from './candidate.ts';
import { commitTree } from './commit.ts';
import { controlFilesNamedIn } from './control-files.ts';
import { changedFiles, diffText, docsOnly } from './diff.ts';
import { runGates } from './gates.ts';
import type { Repository } from './repository.ts';
import { runCommand } from './run-command.ts';
import { addDetached, addTree, removeTree, treePath } from './trees.ts';
import { weakenedTests } from './weakened-tests.ts';
import type { Workshop } from './workshop.ts';

/** Who the commits are by, when nobody says otherwise. */
const AUTHOR = { name: 'npc-crew', email: 'noreply@npc-crew.invalid' } as const;

interface GitWorkshopOptions {
  readonly repository: Repository;
  readonly base: string;
  readonly commands: Workshop['commands'];
  readonly request: string;
  /** Branch of the work in progress: at the platform, or for `--goal` in the user's own repository. */
  readonly wipBranch: string;
  readonly isLocal: boolean;
  /** Environment of the commands: an allow-list, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** A line of a command's output, secrets masked. */
  readonly say: (line: string) => void;
}

/** The workshop over the run's own clone. */
export function createGitWorkshop(options: GitWorkshopOptions): Workshop {
  const { repository, base, commands, log } = options;
  const judging = new Map<string, string>();
  const measure = async (sha: string): Promise<string[]> =>
    (await changedFiles(repository, base, sha)).map(({ path }) => path);

  return {
    base,
    commands,
    async openTree(taskId, sha, kind) {
      if (kind === 'judging') {
        const path = await addDetached(repository, { name: taskId, sha });
        judging.set(taskId, path);
        return path;
      }
      const { path, reused } = await addTree(repository, { taskId, sha });
      if (!reused) await setUp(path, options);
      return path;
    },
    async closeTree(taskId) {
      const path = judging.get(taskId) ?? treePath(repository, taskId);
      judging.delete(taskId);
      await removeTree(repository, path);
    },
    async commit({ taskId, start, message }) {
      const outcome = await commitTree(repository, {
        tree: treePath(repository, taskId),
        startSha: start,
        message,
        author: AUTHOR,
        namedControlFiles: controlFilesNamedIn(options.request),
      });
      return {
        sha: outcome.sha ?? start,
        files: outcome.files.map(({ path }) => path),
        leftOut: outcome.leftOut.map(({ path, detail }) => `\`${path}\`: ${detail}`),
      };
    },
    diff: (sha) => diffText(repository, base, sha),
    weakenedTests: (sha) =>
      weakenedTests(repository, {
        base,
        sha,
        commands: commands.map(({ command }) => command),
        request: options.request,
      }),
    changedFiles: measure,
    async holds(sha, path) {
      return ((await repository.show(sha, path.replace(/^\.\//, ''))) ?? '') !== '';
    },
    documentsOnly: async (sha) => docsOnly(await measure(sha)),
    candidate: (commits) => buildCandidate(repository, { base, commits }),
    async runGates(sha, added, onGate, signal) {
      const extra = added.map((command) => ({ kind: 'added' as const, command }));
      await runGates({
        repository,
        sha,
        commands: [...commands, ...extra],
        env: options.env,
        signal,
        onGate: (gate: GateRun) => onGate(gate),
        onOutput: options.say,
      });
    },
    async saveWork(sha) {
      const outcome = options.isLocal
        ? await repository.writeLocalBranch(options.wipBranch, sha)
        : await repository.push([`${sha}:refs/heads/${options.wipBranch}`], { options: ['ci.skip'] });
      if (outcome.kind === 'ok') return options.wipBranch;
      log.warn({ outcome }, 'work in progress could not be saved on its branch');
      return undefined;
    },
  };
}

/** Runs the repository's set-up in a fresh tree. That it fails is the worker's to see and mend. */
async function setUp(path: string, { commands, env, signal, log }: GitWorkshopOptions): Promise<void> {
  for (const { command } of commands.filter(({ kind }) => kind === 'setup')) {
    const end = await runCommand({ command, cwd: path, env, timeoutMs: 20 * 60_000, signal });
    if (end.exit !== 0) log.warn({ command, exit: end.exit, output: end.output }, 'set-up failed in a work tree');
  }
}
