import { mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../base/errors.ts';
import { createMasker, type Masker } from '../base/mask.ts';
import { setFileAside } from '../base/state-file.ts';
import type { GitRemote } from './forge.ts';
import { type GitOptions, type GitResult, git } from './git.ts';
import {
  deleteRemote,
  fetchRef,
  lsRemote,
  type PushOptions,
  type PushOutcome,
  pushRefs,
  type RemoteAccess,
} from './remote.ts';
import { openSeal, sealConfig } from './sealed-config.ts';

export interface RepositoryOptions {
  /** Absolute path of the run's state folder; the clone is `repo.git` in it. */
  readonly stateDir: string;
  /** The user's work tree, or a folder inside it, or a bare repository. Only read, except by `writeLocalBranch`. */
  readonly checkout: string;
  /** Environment for git: an allow-list with `PATH`, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly remote?: GitRemote;
  /** Values masked in messages, beside those of the remote. */
  readonly secrets?: readonly string[];
  /** Waits before each retry when the remote is out of reach, ms; default 1 s, 4 s. */
  readonly retryDelaysMs?: readonly number[];
  readonly signal?: AbortSignal;
}

/** The run's own clone of the user's repository; all work and every push goes through it. */
export interface Repository {
  readonly stateDir: string;
  readonly gitDir: string;
  /** The checkout's HEAD when the run first saw it. */
  readonly baseSha: string;
  /** Where a damaged clone of an earlier process was moved to. */
  readonly setAside?: string;
  /** Masks the run's secrets. */
  readonly masker: Masker;
  /** Runs git on the clone, without the remote's login. `cwd` is the clone unless given. */
  git(args: readonly string[], options?: Partial<GitOptions>): Promise<GitResult>;
  /** Fetches a branch (short name) or a full ref from the remote and returns its commit. */
  fetch(ref: string, signal?: AbortSignal): Promise<string>;
  /** Text of a file at a commit; undefined when the commit has no such file. */
  show(sha: string, path: string): Promise<string | undefined>;
  /** Names in a folder of a commit, `''` for its root; a folder's name ends with a slash. */
  list(sha: string, folder?: string): Promise<string[]>;
  /** Whether the clone holds this commit. */
  has(sha: string): Promise<boolean>;
  push(refspecs: readonly string[], options?: PushOptions): Promise<PushOutcome>;
  /** The commit a branch of the remote points to. */
  lsRemote(branch: string, signal?: AbortSignal): Promise<string | undefined>;
  deleteRemote(branch: string, signal?: AbortSignal): Promise<PushOutcome>;
  /** Sets a branch of the user's repository to a commit, fast-forward only; for `--goal`. */
  writeLocalBranch(branch: string, sha: string): Promise<PushOutcome>;
  /** Deletes a branch of the user's repository. */
  removeLocalBranch(branch: string): Promise<PushOutcome>;
  /** The commit of a branch of the user's repository. */
  readLocalBranch(branch: string): Promise<string | undefined>;
  /** Files of the checkout that are not committed, and so are not part of the work. */
  uncommitted(): Promise<string[]>;
}

const BASE_REF = 'refs/npc/base';

/** Makes the bare clone in the state folder, or opens the one that an earlier process of the run made. */
export async function openRepository(options: RepositoryOptions): Promise<Repository> {
  await mkdir(options.stateDir, { recursive: true });
  // git reports real paths, and trees are recognised by their path
  const stateDir = await realpath(options.stateDir);
  const gitDir = join(stateDir, 'repo.git');
  const configCopy = join(stateDir, 'repo.config');
  const secrets = [...(options.secrets ?? []), ...(options.remote?.secrets ?? [])];
  const run = (args: readonly string[], rest: Partial<GitOptions> & { cwd: string }): Promise<GitResult> =>
    git(args, { signal: options.signal, ...rest, env: { ...options.env, ...rest.env }, secrets });

  const top = await findTop(options.checkout, run);
  let setAside: string | undefined;
  let baseSha = await readBase(gitDir, run);
  if (baseSha === undefined && (await exists(gitDir))) setAside = await setFileAside(gitDir);
  if (baseSha === undefined) baseSha = await makeClone({ gitDir, configCopy, top, run });

  const seal = await openSeal(gitDir, configCopy);
  const here = async (args: readonly string[], rest: Partial<GitOptions> = {}): Promise<GitResult> => {
    await seal.restore();
    // What outlives the opening has a signal of its own: a push at the end must work when the run was told to stop.
    return git(args, { cwd: gitDir, ...rest, env: { ...options.env, GIT_DIR: gitDir, ...rest.env }, secrets });
  };
  const masker = createMasker(secrets);
  const retryDelaysMs = options.retryDelaysMs ?? [1_000, 4_000];
  const access = (): RemoteAccess => {
    const { remote } = options;
    if (!remote) throw new AppError('git', 'this run has no remote repository; its result is a local branch');
    return {
      url: remote.url,
      mask: masker.mask,
      retryDelaysMs,
      git: (args, rest) => here(args, { ...rest, env: { ...remote.env, ...rest?.env } }),
    };
  };
  const local: RemoteAccess = { url: top, mask: masker.mask, retryDelaysMs: [], git: here };

  if (await isPartial(top, run)) await completePartialClone(options.remote && access(), baseSha, here);

  return {
    stateDir,
    gitDir,
    baseSha,
    ...(setAside && { setAside }),
    masker,
    git: here,
    fetch: async (ref, signal) => fetchRef(access(), ref, signal),
    show: (sha, path) => show(here, sha, path),
    async list(sha, folder = '') {
      const { stdout, exit } = await here(['ls-tree', '-z', `${sha}:${folder}`], { okExits: [0, 128] });
      if (exit !== 0) return [];
      const entries = [...stdout.matchAll(/\d+ (\w+) [0-9a-f]+\t([^\0]+)\0/g)];
      return entries.map(([, type, name]) => (type === 'tree' ? `${name}/` : `${name}`));
    },
    has: async (sha) => (await here(['cat-file', '-e', `${sha}^{commit}`], { okExits: [0, 1, 128] })).exit === 0,
    push: async (refspecs, pushOptions) => pushRefs(access(), refspecs, pushOptions),
    lsRemote: async (branch, signal) => lsRemote(access(), branch, signal),
    deleteRemote: async (branch, signal) => deleteRemote(access(), branch, signal),
    writeLocalBranch: (branch, sha) => pushRefs(local, [`${sha}:refs/heads/${branch}`]),
    removeLocalBranch: (branch) => pushRefs(local, [`:refs/heads/${branch}`]),
    readLocalBranch: (branch) => lsRemote(local, branch),
    async uncommitted() {
      const { stdout } = await run(['status', '--porcelain=v1', '-z', '--no-renames', '--ignore-submodules=dirty'], {
        cwd: top,
      });
      return stdout
        .split('\0')
        .filter((entry) => entry !== '')
        .map((entry) => entry.slice(3));
    },
  };
}

type Run = (args: readonly string[], options: Partial<GitOptions> & { cwd: string }) => Promise<GitResult>;

async function findTop(checkout: string, run: Run): Promise<string> {
  try {
    const { stdout, exit } = await run(['rev-parse', '--show-toplevel'], { cwd: checkout, okExits: [0, 128] });
    if (exit === 0) return stdout.replace(/\n$/, '');
    const bare = await run(['rev-parse', '--absolute-git-dir'], { cwd: checkout });
    return bare.stdout.replace(/\n$/, '');
  } catch (error) {
    throw new AppError('git', `${checkout} is not a git work tree; give the folder of one (${messageOf(error)})`, {
      cause: error,
    });
  }
}

async function readBase(gitDir: string, run: Run): Promise<string | undefined> {
  if (!(await exists(gitDir))) return undefined;
  try {
    const { stdout } = await run(['rev-parse', '--verify', `${BASE_REF}^{commit}`], {
      cwd: gitDir,
      env: { GIT_DIR: gitDir },
    });
    return stdout.trim();
  } catch (error) {
    if (error instanceof AppError && error.code === 'git') return undefined;
    throw error;
  }
}

async function makeClone(clone: { gitDir: string; configCopy: string; top: string; run: Run }): Promise<string> {
  const { gitDir, configCopy, top, run } = clone;
  const head = await run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { cwd: top, okExits: [0, 1, 128] });
  if (head.exit !== 0)
    throw new AppError('git', `${top} has no commit yet; make a first one, so that there is something to start from`);
  const base = head.stdout.trim();
  // Under another name until it is whole, so that a crash leaves no half clone behind.
  const making = `${gitDir}.making`;
  await rm(making, { recursive: true, force: true });
  await run(['clone', '--bare', '--quiet', top, making], { cwd: clone.top, doing: `clone ${top}`, timeoutMs: 900_000 });
  await run(['remote', 'remove', 'origin'], { cwd: making });
  await run(['update-ref', BASE_REF, base], { cwd: making });
  await sealConfig(making, configCopy);
  await rename(making, gitDir);
  return base;
}

async function isPartial(top: string, run: Run): Promise<boolean> {
  const { stdout } = await run(['config', '--get-regexp', '^remote\\..*\\.promisor$'], { cwd: top, okExits: [0, 1] });
  return stdout.trim() !== '';
}

/** A partial clone lacks objects that it would fetch on demand; ours asks nobody on demand, so they are fetched at once. */
async function completePartialClone(
  remote: RemoteAccess | undefined,
  base: string,
  here: Repository['git'],
): Promise<void> {
  const missing = await here(['rev-list', '--objects', '--missing=print', '--no-walk', base], { okExits: [0, 128] });
  if (missing.exit === 0 && !/^\?/m.test(missing.stdout)) return;
  if (!remote)
    throw new AppError('git', 'the checkout is a partial clone; complete it first: git fetch --refetch --no-filter');
  await remote.git(
    [
      'fetch',
      '--refetch',
      '--no-tags',
      '--no-write-fetch-head',
      '--quiet',
      remote.url,
      '+refs/heads/*:refs/npc/complete/*',
    ],
    {
      doing: 'complete the partial clone',
      timeoutMs: 900_000,
    },
  );
}

async function show(here: Repository['git'], sha: string, path: string): Promise<string | undefined> {
  const { stdout, stderr, exit } = await here(['cat-file', 'blob', `${sha}:${path}`], { okExits: [0, 128] });
  if (exit === 0) return stdout;
  if (/does not exist in|exists on disk, but not in|bad file/.test(stderr)) return undefined;
  throw new AppError('git', `could not read ${path} at ${sha}: ${stderr.trim()}`);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
