import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isControlFile } from './control-files.ts';
import { type ChangedFile, changedFiles } from './diff.ts';
import type { Repository } from './repository.ts';
import { findNewSecret } from './secret-scan.ts';
import { type Entry, readBlobs, type Staging, withStaging } from './staging.ts';

/** A path that differs and was not committed. `detail` is one clause for people, without the secret if there was one. */
export interface LeftOut {
  readonly path: string;
  readonly reason: 'too_large' | 'secret' | 'nested_repository' | 'control_file' | 'unreadable';
  readonly detail: string;
}

export interface CommitOptions {
  /** Absolute path of the task's work tree. */
  readonly tree: string;
  /** The commit that the task started from; the parent of the new one. */
  readonly startSha: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Names or paths of control files that the task may change, see `controlFilesNamedIn`. */
  readonly namedControlFiles?: readonly string[];
}

export interface CommitOutcome {
  /** The new commit; absent when nothing differs from the start. */
  readonly sha?: string;
  readonly files: readonly ChangedFile[];
  readonly leftOut: readonly LeftOut[];
}

/** Largest file that is committed, bytes. */
const MOST_BYTES = 5 * 1024 * 1024;
const SUBMODULE = '160000';

/**
 * Commits everything in a work tree that differs from the task's start, whoever made it and however: by tools, by commands, by commits
 * of the worker's own. Ignored files stay out silently; files over 5 MB, new secrets, nested repositories and control files that the
 * task did not name stay as they were at the start and are listed. Hooks do not run.
 */
export async function commitTree(repository: Repository, options: CommitOptions): Promise<CommitOutcome> {
  const { startSha } = options;
  const { tree, leftOut } = await withStaging({ repository, ...options }, async (staging) => {
    const refused = await stageChanges(staging, options);
    const secrets = await unstageSecrets(staging, repository);
    return { tree: await staging.write(), leftOut: [...refused, ...secrets] };
  });
  const start = (await repository.git(['rev-parse', '--verify', `${startSha}^{tree}`])).stdout.trim();
  if (tree === start) return { files: [], leftOut };

  const { author } = options;
  const commit = await repository.git(['commit-tree', tree, '-p', startSha], {
    input: repository.masker.mask(options.message).replaceAll('\0', '').trim() || 'work in progress',
    env: {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_COMMITTER_NAME: author.name,
      GIT_COMMITTER_EMAIL: author.email,
    },
  });
  const sha = commit.stdout.trim();
  // A name of its own, so that a clean-up of the clone cannot take it.
  await repository.git(['update-ref', `refs/npc/commits/${sha}`, sha]);
  return { sha, files: await changedFiles(repository, startSha, sha), leftOut };
}

async function stageChanges(staging: Staging, options: CommitOptions): Promise<LeftOut[]> {
  const { tracked, untracked } = await staging.changes();
  const caches = untracked
    .filter((path) => path.endsWith('/CACHEDIR.TAG'))
    .map((path) => path.slice(0, -'CACHEDIR.TAG'.length));
  const found: Entry[] = [
    ...tracked,
    ...untracked.filter((path) => !caches.some((cache) => path.startsWith(cache))).map((path) => ({ path })),
  ];

  const nested = nestedRepositories(options.tree);
  const leftOut = new Map<string, LeftOut>();
  // Deletions first: a folder may stand where a file was.
  const [deletions, rest]: [string[], string[]] = [[], []];
  for (const entry of found) {
    const refusal = await refuse(entry, options, nested);
    if (refusal) leftOut.set(refusal.path, refusal);
    else (entry.before && !entry.after ? deletions : rest).push(entry.path);
  }
  await staging.stage([...deletions, ...rest]);
  return [...leftOut.values()];
}

async function refuse(entry: Entry, options: CommitOptions, nested: NestedRepositories): Promise<LeftOut | undefined> {
  const path = readable(entry.path);
  const named = (file: string) =>
    (options.namedControlFiles ?? []).some((name) => file === name || file.endsWith(`/${name}`));
  const repository = entry.path.endsWith('/') ? entry.path : await nested.of(entry.path);
  if (repository !== undefined)
    return { path: readable(repository), reason: 'nested_repository', detail: 'a git repository of its own' };
  if ([entry.before?.mode, entry.after?.mode].includes(SUBMODULE))
    // A removed submodule is taken when the task was about submodules; a moved one points to a commit that nobody else may have.
    return entry.after || !named('.gitmodules')
      ? { path, reason: 'nested_repository', detail: 'a submodule' }
      : undefined;
  if (isControlFile(path) && !named(path))
    return { path, reason: 'control_file', detail: 'it steers git, and the task does not name it' };
  if (entry.before && !entry.after) return undefined;

  const bytes = pathBytes(options.tree, entry.path);
  const stat = await lstat(bytes).catch(() => undefined);
  if (!stat || stat.isSymbolicLink()) return undefined;
  if (stat.size > MOST_BYTES)
    return { path, reason: 'too_large', detail: `${(stat.size / 1024 / 1024).toFixed(1)} MB, over the limit of 5 MB` };
  const allowed = await access(bytes, constants.R_OK).then(
    () => true,
    () => false,
  );
  return allowed ? undefined : { path, reason: 'unreadable', detail: 'it cannot be read' };
}

/** Takes out what brings secrets in. Looks at what was staged and not at the files, which may change under our hands. */
async function unstageSecrets(staging: Staging, repository: Repository): Promise<LeftOut[]> {
  const entries = (await staging.staged()).filter((entry) => entry.after && entry.after.mode !== SUBMODULE);
  const blobs = entries.flatMap((entry) => [
    entry.after?.blob ?? '',
    ...(entry.before && entry.before.mode !== SUBMODULE ? [entry.before.blob] : []),
  ]);
  const contents = readBlobs(repository, blobs);
  const next = async (): Promise<Buffer> => (await contents.next()).value ?? Buffer.alloc(0);
  const hits: { entry: Entry; kind: string }[] = [];
  for (const entry of entries) {
    const after = await next();
    const before = entry.before && entry.before.mode !== SUBMODULE ? await next() : undefined;
    const kind = findNewSecret(repository.masker, { path: readable(entry.path), before, after });
    if (kind !== undefined) hits.push({ entry, kind });
  }
  await staging.unstage(hits.map(({ entry }) => entry));
  return hits.map(({ entry, kind }) => ({
    path: repository.masker.mask(readable(entry.path)),
    reason: 'secret',
    detail: `it holds what looks like ${kind}`,
  }));
}

interface NestedRepositories {
  /** The nested repository that holds this path, with a slash at its end. */
  of(path: string): Promise<string | undefined>;
}

function nestedRepositories(tree: string): NestedRepositories {
  const known = new Map<string, Promise<boolean>>();
  const isRepository = (folder: string): Promise<boolean> => {
    const look =
      known.get(folder) ??
      lstat(pathBytes(tree, `${folder}.git`)).then(
        () => true,
        () => false,
      );
    known.set(folder, look);
    return look;
  };
  return {
    async of(path) {
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
        const folder = path.slice(0, at + 1);
        if (await isRepository(folder)) return folder;
      }
      return undefined;
    },
  };
}

function pathBytes(tree: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(join(tree, '/')), Buffer.from(path, 'latin1')]);
}

function readable(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
