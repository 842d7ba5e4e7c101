import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { git } from '../../coordinator/git.ts';

/** An environment with nothing of the user's but PATH, and an identity for commits. */
export const plainEnv: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.invalid',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.invalid',
};

/** A folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'npc-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A user's repository with a first commit of these files. */
export interface TempRepository {
  readonly path: string;
  git(...args: string[]): Promise<string>;
  /** Writes the files (null deletes one) and commits everything; returns the commit. */
  commit(files: Readonly<Record<string, string | null>>, message?: string): Promise<string>;
}

/** Makes a real repository in a folder of its own. */
export async function tempRepository(
  files: Readonly<Record<string, string>> = { 'README.md': '# demo\n' },
): Promise<TempRepository> {
  const path = join(await tempFolder(), 'checkout');
  await mkdir(path);
  const run = async (...args: string[]) => (await git(args, { cwd: path, env: plainEnv })).stdout.trim();
  await run('init', '--quiet', '--initial-branch=main');
  const commit = async (changes: Readonly<Record<string, string | null>>, message = 'change') => {
    await writeFiles(path, changes);
    await run('add', '--all');
    await run('commit', '--quiet', '--allow-empty', '-m', message);
    return run('rev-parse', 'HEAD');
  };
  await commit(files, 'first');
  return { path, git: run, commit };
}

/** Writes files below a folder, making folders as needed; null deletes. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Buffer | null>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    if (content === null) await rm(path, { recursive: true, force: true });
    else {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
  }
}
