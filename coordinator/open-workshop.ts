import type { Log } from '../base/log.ts';
import { adviceFor } from './advice.ts';
import { branchNames, type DeliveryRemote } from './deliver.ts';
import { detectCommands, gateCommands } from './detect-commands.ts';
import type { Forge } from './forge.ts';
import { createGitWorkshop } from './git-workshop.ts';
import type { OpenedWorkshop } from './options.ts';
import { type RepoConfig, readRepoConfig } from './repo-config.ts';
import { openRepository, type Repository } from './repository.ts';
import { dockerfileCure, missingPrograms } from './toolchain.ts';
import type { Trigger } from './trigger.ts';
import { endRun } from './verdict.ts';

export interface OpenWorkshopOptions {
  readonly trigger: Trigger;
  readonly runKey: string;
  readonly stateDir: string;
  /** Absent for `--goal`: the work ends on a branch of the user's own repository. */
  readonly forge: Forge | undefined;
  /** Environment of git and of the repository's commands: an allow-list, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Opens the repository that a run works in, and reads from its base commit how the work is checked. */
export async function openGitWorkshop(options: OpenWorkshopOptions): Promise<OpenedWorkshop> {
  const { trigger, stateDir, forge, env, secrets, log, signal } = options;
  const repository = await openRepository({
    stateDir,
    checkout: trigger.workspace,
    env,
    secrets,
    signal,
    ...(forge && { remote: forge.remote }),
  });
  const { base, rules } = await findCommits(repository, trigger);
  const config = await readConfigAt(repository, rules, trigger);
  const commands = gateCommands(config.commands, await detectCommands(repository, rules));
  const { wip: wipBranch } = branchNames(trigger, options.runKey);
  const missing = await missingPrograms(commands, env.PATH ?? '');
  return {
    workshop: createGitWorkshop({
      repository,
      base,
      commands,
      request: trigger.request,
      wipBranch,
      isLocal: forge === undefined,
      env,
      log,
      signal,
      say: options.say,
    }),
    remote: forge ? forgeRemote(repository) : localRemote(repository),
    show: (path) => repository.show(rules, path),
    config,
    missing: missing.map((program) => ({ program, cure: dockerfileCure(program, trigger.language) })),
    leftOut: forge ? [] : await repository.uncommitted(),
  };
}

/** Where the work starts, and the commit whose rules and configuration count. */
async function findCommits(repository: Repository, trigger: Trigger): Promise<{ base: string; rules: string }> {
  if (trigger.thread?.kind !== 'pr') return { base: repository.baseSha, rules: repository.baseSha };
  const rules = await repository.fetch(trigger.baseBranch);
  const base = trigger.pullBranch === undefined ? repository.baseSha : await repository.fetch(trigger.pullBranch);
  return { base, rules };
}

async function readConfigAt(repository: Repository, sha: string, trigger: Trigger): Promise<RepoConfig> {
  const read = await readRepoConfig(repository, sha);
  return 'problem' in read ? endRun('misconfigured', read.problem, adviceFor('misconfigured', trigger)) : read.config;
}

function forgeRemote(repository: Repository): DeliveryRemote {
  return {
    push: (sha, branch, { skipCi }) =>
      repository.push([`${sha}:refs/heads/${branch}`], skipCi ? { options: ['ci.skip'] } : {}),
    headOf: (branch) => repository.lsRemote(branch),
    remove: async (branch) => (await repository.deleteRemote(branch)).kind === 'ok',
  };
}

function localRemote(repository: Repository): DeliveryRemote {
  return {
    push: (sha, branch) => repository.writeLocalBranch(branch, sha),
    headOf: (branch) => repository.readLocalBranch(branch),
    remove: async (branch) => (await repository.removeLocalBranch(branch)).kind === 'ok',
  };
}
