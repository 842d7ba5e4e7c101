import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { endProcesses } from '../../base/process-tree.ts';
import { checkOut, git, tryGit } from './git.ts';
import { createPipelineLock, type LockOptions, type PipelineLock } from './lock.ts';
import type { Occasion } from './platform.ts';
import { npcScopes } from './scopes.ts';
import { variablesFor } from './variables.ts';
import { drawToken, type NpcRole, type Token, type World } from './world.ts';

/** Starts a stage: `env` holds the platform's variables alone, `cwd` is the checked-out work tree. */
export type StartRun = (env: Readonly<Record<string, string>>, cwd: string) => ChildProcess;

/** What a mention starts, and how. */
export interface PipelineOptions {
  readonly run?: StartRun;
  /** Run when the run failed or was killed, then `endStages` in any case. */
  readonly failStages: readonly StartRun[];
  readonly endStages: readonly StartRun[];
  /** False: builds of one thread run side by side. */
  readonly lock: LockOptions | false;
  readonly maxRunTimeMs: number;
  /** A run that prints nothing for so long is killed. */
  readonly silenceMs: number;
}

/** One build, as it goes on. */
export interface Build {
  readonly sn: string;
  readonly slug: string;
  readonly occasion: Occasion;
  readonly npc: NpcRole;
  status: 'pending' | 'start' | 'success' | 'error' | 'cancel';
  /** Why it did not end well; empty otherwise. */
  problem: string;
  /** Empty until it started. */
  env: Readonly<Record<string, string>>;
  workspace: string;
  /** stdout and stderr of all stages, as they came. */
  output: string;
  /** Of the run itself; undefined while it works, null when it was killed. */
  exitCode?: number | null;
  child?: ChildProcess;
  startedAt?: number;
  endedAt?: number;
  /** Settles when the last stage has ended and the token is dead. */
  readonly done: Promise<void>;
}

export interface Pipelines {
  readonly builds: Build[];
  /** Starts builds for one mention; their processes start together, as close as the machine allows. */
  start(occasion: Occasion, npc: NpcRole, how?: { times?: number; isRetry?: boolean }): Build[];
  cancel(build: Build): void;
  /** Kills what runs and waits for it. */
  close(): Promise<void>;
}

export function createPipelines(
  world: World,
  at: {
    readonly folder: string;
    readonly webUrl: () => string;
    readonly apiUrl: () => string;
    readonly options: () => PipelineOptions;
  },
): Pipelines {
  const builds: Build[] = [];
  const ended = new Map<Build, () => void>();
  const containers = new Map<Build, Promise<unknown>>();
  let lock: PipelineLock | undefined;

  async function prepare(build: Build, isRetry: boolean): Promise<Token> {
    const { occasion, npc } = build;
    const { repository, thread } = occasion;
    const wanted =
      thread.kind === 'issue' ? `refs/heads/${repository.defaultBranch}` : thread.mergeSha || thread.headSha;
    const commit = await git(repository.folder, 'log', '-1', '--format=%H%x00%cn%x00%B', wanted);
    const [sha = '', author = '', message = ''] = commit.split('\0');
    const url = `${at.webUrl()}/${repository.slug}`;
    const branch = thread.kind === 'issue' ? { branch: repository.defaultBranch } : {};
    await checkOut(repository.folder, { workspace: build.workspace, url, sha, ...branch });
    const home = world.repositories.get(npc.slug);
    const npcSha = home && (await tryGit(home.folder, 'rev-parse', `refs/heads/${home.defaultBranch}`));
    const person = { username: npc.name, nickname: npc.name, access: 'Developer' as const, npc };
    const scopes = npcScopes(occasion.workMode);
    const token: Token = {
      value: drawToken(),
      person,
      repository: repository.slug,
      scopes,
      workMode: occasion.workMode,
      expired: false,
    };
    world.tokens.set(token.value, token);
    build.env = variablesFor(occasion, npc, {
      sn: build.sn,
      token: token.value,
      workspace: build.workspace,
      startedAt: new Date(),
      maxRunTimeMs: at.options().maxRunTimeMs,
      isRetry,
      apiUrl: at.apiUrl(),
      webUrl: at.webUrl(),
      npcSha: npcSha ?? '',
      commit: { sha, message: message.trim(), author },
    });
    return token;
  }

  function createBuild(occasion: Occasion, npc: NpcRole): Build {
    const sn = `cnb-${randomBytes(2).toString('hex')}-${randomBytes(4).toString('hex')}`;
    let end: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    const facts = { sn, slug: occasion.repository.slug, occasion, npc, done };
    const workspace = join(at.folder, 'workspaces', sn);
    const build: Build = { ...facts, workspace, status: 'pending', problem: '', env: {}, output: '' };
    ended.set(build, end);
    builds.push(build);
    return build;
  }

  /** Takes the lock, works, lets it go. Never rejects. */
  async function drive(build: Build, prepared: () => Promise<Token>): Promise<void> {
    const { repository, thread } = build.occasion;
    const release = lock ? await lock.acquire(`${repository.id}-${thread.kind}-${thread.number}`) : undefined;
    try {
      if ((lock && !release) || build.status === 'cancel') {
        build.status = 'cancel';
        build.problem ||= 'the lock was not to be had';
        return;
      }
      await work(build, await prepared());
    } catch (error) {
      build.status = 'error';
      build.problem = String(error);
    } finally {
      release?.();
    }
  }

  /** The stages of a build whose turn it is. */
  async function work(build: Build, token: Token): Promise<void> {
    const { run, failStages, endStages } = at.options();
    build.startedAt = Date.now();
    build.status = 'start';
    if (run) await stage(build, run, build.env);
    const cancelled = build.problem === 'cancelled';
    const failed = run !== undefined && build.exitCode !== 0;
    const status = cancelled ? 'cancel' : failed ? 'error' : 'success';
    const fail = { CNB_BUILD_FAILED_MSG: build.problem, CNB_BUILD_FAILED_STAGE_NAME: 'run agent' };
    const exitCode = build.exitCode;
    if (failed) for (const start of failStages) await stage(build, start, { ...build.env, ...fail });
    for (const start of endStages)
      await stage(build, start, { ...build.env, ...(failed && fail), CNB_PIPELINE_STATUS: status });
    if (exitCode !== undefined) build.exitCode = exitCode;
    token.expired = true;
    build.status = status;
    build.endedAt = Date.now();
    await rm(build.workspace, { recursive: true, force: true });
  }

  /** Runs one stage under the platform's two clocks. */
  function stage(build: Build, start: StartRun, env: Readonly<Record<string, string>>): Promise<void> {
    const { maxRunTimeMs, silenceMs } = at.options();
    const child = start(env, build.workspace);
    build.child = child;
    return new Promise((resolve) => {
      const kill = (problem: string): void => {
        build.problem = problem;
        containers.set(build, endContainer(build));
      };
      const wall = setTimeout(() => kill('the pipeline reached its maximum run time'), maxRunTimeMs);
      const silence = setTimeout(() => kill('no output for too long'), silenceMs);
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (chunk: Buffer | string) => {
          build.output += String(chunk);
          silence.refresh();
        });
      }
      const end = (code: number | null): void => {
        clearTimeout(wall);
        clearTimeout(silence);
        build.exitCode = code;
        if (code !== 0 && build.problem === '') build.problem = `exit code ${code}`;
        // the next stage starts in a container of its own, not in the one that is being ended
        void Promise.resolve(containers.get(build)).then(() => resolve());
      };
      child.once('error', (error) => {
        build.output += `${error.message}\n`;
        end(127);
      });
      child.once('exit', end);
    });
  }

  function cancel(build: Build): void {
    if (build.endedAt !== undefined) return;
    build.problem = 'cancelled';
    if (build.status === 'pending') build.status = 'cancel';
    else containers.set(build, endContainer(build));
  }

  return {
    builds,
    cancel,
    start(occasion, npc, { times = 1, isRetry = false } = {}) {
      const { lock: lockOptions } = at.options();
      if (lockOptions) lock ??= createPipelineLock(lockOptions);
      const started = Array.from({ length: times }, () => createBuild(occasion, npc));
      // Without a lock the work trees are made first, so that all of one delivery start together.
      const ready = lock ? undefined : Promise.all(started.map((build) => prepare(build, isRetry)));
      for (const [index, build] of started.entries()) {
        const token = async (): Promise<Token> => (await ready)?.[index] ?? prepare(build, isRetry);
        void drive(build, token).finally(() => ended.get(build)?.());
      }
      return started;
    },
    async close() {
      for (const build of builds) cancel(build);
      await Promise.all(builds.map((build) => build.done));
    },
  };
}

/** Ends all that the build started, whoever its parent is by now. */
function endContainer(build: Build): Promise<unknown> {
  const leader = build.child?.pid;
  const variable = { name: 'CNB_BUILD_ID', value: build.sn };
  return endProcesses({ variable, ...(leader !== undefined && { leader }) });
}
