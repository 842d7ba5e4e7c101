import { randomBytes } from 'node:crypto';
import { chmod, lstat, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import type { Repository } from './repository.ts';

/** A work tree of the run's clone. */
export interface Tree {
  readonly path: string;
  /** The commit that its HEAD points to now. */
  readonly sha: string;
}

/** Folder name of a task's tree. No two tasks share one, and every name is safe in a path list. */
export function treeName(taskId: string): string {
  if (taskId === '') throw new AppError('internal', 'a tree belongs to a task, and this task has no id');
  return taskId.replaceAll(':', '%3A').replace(/^\./, '%2E');
}

/** Where a task's tree lies, whether it is there or not. */
export function treePath(repository: Repository, taskId: string): string {
  return join(treesFolder(repository), treeName(taskId));
}

/**
 * The writable tree of a task, detached at `sha`. One that an earlier attempt left is kept as it is, work and all (`reused`); what
 * only looks like a tree is replaced.
 */
export async function addTree(
  repository: Repository,
  task: { readonly taskId: string; readonly sha: string },
): Promise<{ readonly path: string; readonly reused: boolean }> {
  const path = treePath(repository, task.taskId);
  if (await isTree(repository, path)) return { path, reused: true };
  await removeTree(repository, path);
  await checkOut(repository, path, task.sha);
  return { path, reused: false };
}

/** A tree for looking and running, thrown away afterwards with {@link removeTree}; each call makes another one. */
export async function addDetached(
  repository: Repository,
  options: { readonly name: string; readonly sha: string },
): Promise<string> {
  const path = join(treesFolder(repository), `${treeName(options.name)}~${randomBytes(4).toString('hex')}`);
  await checkOut(repository, path, options.sha);
  return path;
}

/** Removes a tree and git's record of it, also what a crash left: a folder without record, a record without folder, a locked one. */
export async function removeTree(repository: Repository, path: string): Promise<void> {
  if (dirname(resolve(path)) !== treesFolder(repository))
    throw new AppError('internal', `${path} is no tree of this run, so it is not removed`);
  await removeFolder(path);
  // git names the record after the folder, with a number behind it when the name was taken.
  const records = join(repository.gitDir, 'worktrees');
  for (const name of await readdir(records).catch(() => [])) {
    const target = await readFile(join(records, name, 'gitdir'), 'utf8').catch(() => '');
    if (target !== '' && dirname(target.trim()) === resolve(path))
      await rm(join(records, name), { recursive: true, force: true });
  }
}

/** The run's trees whose folders are there. */
export async function listTrees(repository: Repository): Promise<Tree[]> {
  const { stdout } = await repository.git(['worktree', 'list', '--porcelain']);
  const trees = stdout.split('\n\n').flatMap((entry) => {
    const path = /^worktree (.*)$/m.exec(entry)?.[1];
    const sha = /^HEAD (.*)$/m.exec(entry)?.[1];
    return path && sha && dirname(path) === treesFolder(repository) ? [{ path, sha }] : [];
  });
  const there = await Promise.all(trees.map((tree) => isTree(repository, tree.path)));
  return trees.filter((_, index) => there[index]);
}

function treesFolder(repository: Repository): string {
  return resolve(repository.stateDir, 'trees');
}

async function checkOut(repository: Repository, path: string, sha: string): Promise<void> {
  // Twice --force: also over the locked record of a folder that is gone.
  await repository.git(['worktree', 'add', '--quiet', '--force', '--force', '--detach', path, sha], {
    doing: `make a work tree at ${sha.slice(0, 12)}`,
    timeoutMs: 600_000,
  });
}

/** Whether the folder is a tree of this clone: its `.git` file leads to a record of ours that leads back. */
async function isTree(repository: Repository, path: string): Promise<boolean> {
  try {
    const link = /^gitdir: (.*)$/m.exec(await readFile(join(path, '.git'), 'utf8'))?.[1];
    if (link === undefined || dirname(await realpath(link)) !== join(await realpath(repository.gitDir), 'worktrees'))
      return false;
    const back = (await readFile(join(link, 'gitdir'), 'utf8')).trim();
    return basename(back) === '.git' && (await realpath(dirname(back))) === (await realpath(path));
  } catch {
    return false;
  }
}

async function removeFolder(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  try {
    await remove();
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // Package caches make their folders read-only.
    await makeWritable(path);
    await remove();
  }
}

async function makeWritable(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}
