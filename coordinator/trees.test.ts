import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository, writeFiles } from '../test/helpers/temp-repository.ts';
import { git } from './git.ts';
import { openRepository } from './repository.ts';
import { addDetached, addTree, listTrees, removeTree, treeName, treePath } from './trees.ts';

async function repositoryOf(files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const user = await tempRepository(files);
  return openRepository({ stateDir: join(await tempFolder(), 'state'), checkout: user.path, env: plainEnv });
}

test('R-TREE-5: a task’s tree is checked out at the commit, and kept with its work for the next attempt', async () => {
  const repository = await repositoryOf();
  const task = { taskId: '0123456789abcdef.coder', sha: repository.baseSha };
  const first = await addTree(repository, task);
  expect(first).toEqual({ path: join(repository.stateDir, 'trees', '0123456789abcdef.coder'), reused: false });
  expect(await readFile(join(first.path, 'a.txt'), 'utf8')).toBe('a\n');
  await writeFile(join(first.path, 'work.txt'), 'half done');
  expect(await addTree(repository, task)).toEqual({ path: first.path, reused: true });
  expect(await readFile(join(first.path, 'work.txt'), 'utf8')).toBe('half done');
});

test('R-TREE-5: tasks never share a tree, whatever their ids look like', () => {
  const ids = ['a', 'a.b', 'a:b', 'a%3Ab', '.a', '..', '.', 'A-_.', 'a.r1'];
  const names = ids.filter((id) => !id.includes('%')).map(treeName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    expect(name).toMatch(/^[^./:][^/:]*$/);
    expect(name).not.toBe('..');
  }
  expect(() => treeName('')).toThrow(/no id/);
});

test('R-TREE-5: several trees are made at the same time', async () => {
  const repository = await repositoryOf();
  const trees = await Promise.all(
    ['one', 'two', 'three', 'four'].map((taskId) => addTree(repository, { taskId, sha: repository.baseSha })),
  );
  expect((await listTrees(repository)).map((tree) => tree.path).sort()).toEqual(trees.map((tree) => tree.path).sort());
});

test('R-TREE-5: trees for judging are new each time and go without a trace', async () => {
  const repository = await repositoryOf();
  const one = await addDetached(repository, { name: 'run.reviewer', sha: repository.baseSha });
  const two = await addDetached(repository, { name: 'run.reviewer', sha: repository.baseSha });
  expect(one).not.toBe(two);
  await removeTree(repository, one);
  await removeTree(repository, two);
  await removeTree(repository, two);
  expect(await listTrees(repository)).toEqual([]);
  await expect(stat(one)).rejects.toThrow();
});

test('R-TREE-5: what a crash left in a tree’s place is cleared away', async () => {
  const repository = await repositoryOf();
  const task = { taskId: 'run.coder', sha: repository.baseSha };
  const path = treePath(repository, task.taskId);
  const leftovers: Record<string, () => Promise<unknown>> = {
    'a folder without git': () => writeFiles(path, { 'junk.txt': 'x' }),
    'a file': () => writeFile(path, 'x'),
    'a repository of its own': () =>
      mkdir(path, { recursive: true }).then(() => git(['init', '--quiet'], { cwd: path, env: plainEnv })),
    'a record without folder': async () => {
      await addTree(repository, task);
      await rm(path, { recursive: true });
    },
    'a locked record without folder': async () => {
      await addTree(repository, task);
      await repository.git(['worktree', 'lock', path]);
      await rm(path, { recursive: true });
    },
    'a moved tree': async () => {
      await addTree(repository, task);
      await rename(path, `${path}-moved`);
    },
    'a folder without its .git': async () => {
      await addTree(repository, task);
      await rm(join(path, '.git'));
    },
  };
  for (const [name, leave] of Object.entries(leftovers)) {
    await leave();
    expect((await addTree(repository, task)).reused, name).toBe(false);
    expect(await readFile(join(path, 'a.txt'), 'utf8'), name).toBe('a\n');
    await removeTree(repository, path);
  }
  expect((await repository.git(['worktree', 'list', '--porcelain'])).stdout.match(/^worktree/gm)).toHaveLength(1);
});

test('R-TREE-5: a locked tree and one with read-only folders are removed', async () => {
  const repository = await repositoryOf();
  const { path } = await addTree(repository, { taskId: 'run.coder', sha: repository.baseSha });
  await repository.git(['worktree', 'lock', path]);
  await writeFiles(path, { 'cache/deep/file.txt': 'x' });
  await chmod(join(path, 'cache/deep'), 0o500);
  await chmod(join(path, 'cache'), 0o500);
  await removeTree(repository, path);
  await expect(stat(path)).rejects.toThrow();
  expect(await listTrees(repository)).toEqual([]);
});

test('R-TREE-5: nothing outside the run’s trees is removed', async () => {
  const repository = await repositoryOf();
  const elsewhere = await tempFolder();
  for (const path of [
    elsewhere,
    join(repository.stateDir, 'trees'),
    join(repository.stateDir, 'trees', 'a', 'b'),
    repository.stateDir,
  ])
    await expect(removeTree(repository, path)).rejects.toThrow(/not removed/);
});

test('R-TREE-4: a filter that a command configured does not run at checkout', async () => {
  const repository = await repositoryOf({ '.gitattributes': '*.txt filter=evil\n', 'a.txt': 'a\n' });
  await git(['config', 'filter.evil.smudge', 'echo smudged'], { cwd: repository.gitDir, env: plainEnv });
  const { path } = await addTree(repository, { taskId: 'run.coder', sha: repository.baseSha });
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('a\n');
});
