import type { GateRun } from '../protocol/index.ts';
import type { ChosenCommand } from './record.ts';
import type { WeakenedTest } from './weakened-tests.ts';

/** What the run does with git and the repository's own commands; {@link ./git-workshop.ts} is the real one. */
export interface Workshop {
  /** Commit that the run's work starts from. */
  readonly base: string;
  readonly commands: readonly ChosenCommand[];
  /** A work tree for one task at `sha`; the one of an earlier attempt is kept as it is. Returns its absolute path. */
  openTree(taskId: string, sha: string, kind: 'writing' | 'judging'): Promise<string>;
  closeTree(taskId: string): Promise<void>;
  /** Commits everything in the task's tree that differs from `start`; `sha` is `start` when nothing does. */
  commit(task: { readonly taskId: string; readonly start: string; readonly message: string }): Promise<Committed>;
  /** The change from the base to `sha`, as text. */
  diff(sha: string): Promise<string>;
  /** What in the change weakens tests, or edits what the commands run. */
  weakenedTests(sha: string): Promise<readonly WeakenedTest[]>;
  /** Files in which `sha` differs from the base. */
  changedFiles(sha: string): Promise<readonly string[]>;
  /** Whether `sha` holds this file with something in it. */
  holds(sha: string, path: string): Promise<boolean>;
  /** Whether the change to `sha` touches documents only. */
  documentsOnly(sha: string): Promise<boolean>;
  /** The commit that would be delivered: one commit for each node, on the base. The same input gives the same commit. */
  candidate(
    commits: readonly { readonly node: string; readonly sha: string; readonly message: string }[],
  ): Promise<string>;
  /** Runs the repository's commands, and the added ones, in a clean tree at `sha`. Never throws for a command that fails. */
  runGates(
    sha: string,
    added: readonly string[],
    onGate: (gate: GateRun) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Pushes work in progress, so that it outlives the machine. Returns the branch; undefined when it was refused, which is not fatal. */
  saveWork(sha: string): Promise<string | undefined>;
}

export interface Committed {
  readonly sha: string;
  readonly files: readonly string[];
  /** What was not committed, each with its reason. */
  readonly leftOut: readonly string[];
}
