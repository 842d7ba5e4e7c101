import { chmod, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository, writeFiles } from '../test/helpers/temp-repository.ts';
import { type CommitOptions, commitTree } from './commit.ts';
import { controlFilesNamedIn } from './control-files.ts';
import { git } from './git.ts';
import { openRepository } from './repository.ts';
import { addTree } from './trees.ts';

const author = { name: 'npc-crew', email: 'npc-crew@example.invalid' };
const secret = ['un', 'guessable', 'Value42'].join('');

/** A task's tree on a repository with these files, and a way to commit it. */
async function task(files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const user = await tempRepository(files);
  const stateDir = join(await tempFolder(), 'state');
  const repository = await openRepository({ stateDir, checkout: user.path, env: plainEnv, secrets: [secret] });
  const { path } = await addTree(repository, { taskId: 'run.coder', sha: repository.baseSha });
  const inTree = async (...args: string[]) => (await git(args, { cwd: path, env: plainEnv })).stdout.trim();
  const commit = (more: Partial<CommitOptions> = {}) =>
    commitTree(repository, { tree: path, startSha: repository.baseSha, message: 'the work', author, ...more });
  return { repository, path, inTree, commit, start: repository.baseSha };
}

test('R-TREE-7: everything that differs is committed: changed, new, deleted, executable, linked, with any name', async () => {
  const { repository, path, commit, start } = await task({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'run.sh': '#!/bin/sh\n',
    'old/x.txt': 'long enough to be found again\n',
  });
  await writeFiles(path, {
    'a.txt': 'changed\n',
    'b.txt': null,
    '新/文件 "1"\n.txt': '内容\n',
    'old/x.txt': null,
    'new/x.txt': 'long enough to be found again\n',
  });
  await chmod(join(path, 'run.sh'), 0o755);
  await symlink('a.txt', join(path, 'link'));
  const { sha = '', files, leftOut } = await commit({ message: 'feat: 做完了\n\nbody\n' });
  expect(leftOut).toEqual([]);
  expect(files.map((file) => `${file.status} ${file.path}`).sort()).toEqual([
    'added link',
    'added 新/文件 "1"\n.txt',
    'deleted b.txt',
    'modified a.txt',
    'modified run.sh',
    'renamed new/x.txt',
  ]);
  expect(await repository.show(sha, '新/文件 "1"\n.txt')).toBe('内容\n');
  const log = (await repository.git(['log', '-1', '--format=%P|%an|%ae|%cn|%B', sha])).stdout.trim();
  expect(log).toBe(`${start}|npc-crew|npc-crew@example.invalid|npc-crew|feat: 做完了\n\nbody`);
  expect((await repository.git(['ls-tree', sha, 'run.sh', 'link'])).stdout).toMatch(/120000.*link\n100755.*run\.sh/s);
});

test('R-TREE-7: nothing changed is no commit', async () => {
  const { commit, path } = await task();
  await writeFile(join(path, 'a.txt'), 'a\n');
  expect(await commit()).toEqual({ files: [], leftOut: [] });
});

test('R-TREE-7: a lock file that a command wrote is work; ignored files and what tools leave behind are not', async () => {
  const { commit, path } = await task({ '.gitignore': 'dist/\n*.log\n', 'package.json': '{}' });
  await writeFiles(path, {
    'package-lock.json': '{}\n',
    'dist/out.js': 'x',
    'debug.log': 'x',
    'node_modules/left/index.js': 'x',
    'src/__pycache__/m.pyc': 'x',
    '.venv/bin/python': 'x',
    'target/CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55',
    'target/debug/big': 'x',
  });
  const { files, leftOut } = await commit();
  expect(files.map((file) => file.path)).toEqual(['package-lock.json']);
  expect(leftOut).toEqual([]);
});

test('R-TREE-7: files that are tracked although they are ignored stay part of the work', async () => {
  const { repository, path, inTree } = await task({ 'a.txt': 'a' });
  await writeFiles(path, { '.gitignore': 'kept.log\n', 'kept.log': '1' });
  await inTree('add', '--force', '--all');
  await inTree('commit', '--quiet', '-m', 'start');
  const startSha = await inTree('rev-parse', 'HEAD');
  await writeFiles(path, { 'kept.log': '2' });
  const outcome = await commitTree(repository, { tree: path, startSha, message: 'm', author });
  expect(outcome.files).toEqual([{ path: 'kept.log', status: 'modified' }]);
});

test('R-TREE-7: the worker’s own commits, resets, stages and checkouts change nothing about what is taken', async () => {
  const ways: Record<string, (inTree: (...args: string[]) => Promise<string>, path: string) => Promise<unknown>> = {
    'committed by itself': async (inTree) => {
      await inTree('add', '--all');
      await inTree('commit', '--quiet', '--no-verify', '-m', 'my own');
    },
    'committed and reset the index': async (inTree) => {
      await inTree('add', '--all');
      await inTree('commit', '--quiet', '-m', 'my own');
      await inTree('reset', '--quiet', '--soft', 'HEAD~1');
    },
    'moved HEAD to an orphan branch': (inTree) => inTree('checkout', '--quiet', '--orphan', 'elsewhere'),
    'marked files as unchanged': (inTree) => inTree('update-index', '--assume-unchanged', 'a.txt'),
    'broke the index': async (inTree) => writeFile(await inTree('rev-parse', '--git-path', 'index'), 'broken'),
    'took .git away': (_inTree, path) => rm(join(path, '.git')),
    'began a repository of its own': async (inTree, path) => {
      await rm(join(path, '.git'));
      await inTree('init', '--quiet');
      await inTree('add', '--all');
      await inTree('commit', '--quiet', '-m', 'my own');
    },
  };
  for (const [name, way] of Object.entries(ways)) {
    const { repository, path, inTree, commit, start } = await task();
    await writeFiles(path, { 'a.txt': 'changed\n', 'new.txt': 'new\n' });
    await way(inTree, path);
    const { sha = '', files } = await commit();
    expect(
      files.map((file) => file.path),
      name,
    ).toEqual(['a.txt', 'new.txt']);
    expect((await repository.git(['rev-parse', `${sha}^`])).stdout.trim(), name).toBe(start);
  }
});

test('R-TREE-7: a file where a folder was, and a folder where a file was', async () => {
  const { commit, path } = await task({ thing: 'file\n', 'folder/x.txt': 'a\n' });
  await writeFiles(path, { thing: null, folder: null });
  await writeFiles(path, { 'thing/inside.txt': 'now a folder\n', folder: 'now a file\n' });
  const { files } = await commit();
  expect(files.map((file) => `${file.status} ${file.path}`).sort()).toEqual([
    'added folder',
    'added thing/inside.txt',
    'deleted folder/x.txt',
    'deleted thing',
  ]);
});

test('R-TREE-7: names that are not UTF-8 are committed as they are', async () => {
  const { repository, commit, path } = await task();
  await writeFile(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xd6, 0xd0, 0x2e, 0x74])]), 'gbk name\n');
  const { sha = '', files } = await commit();
  expect(files).toHaveLength(1);
  expect((await repository.git(['ls-tree', '-z', '--name-only', sha], { encoding: 'latin1' })).stdout).toContain(
    '\xd6\xd0.t',
  );
});

test('R-TREE-4: hooks, filters and ignore rules that a command configured play no part in a commit', async () => {
  const { repository, commit, path, inTree } = await task({ '.gitattributes': '*.txt filter=evil\n', 'a.txt': 'a\n' });
  const ran = join(await tempFolder(), 'ran');
  await writeFiles(path, { 'hooks/pre-commit': `#!/bin/sh\ntouch ${ran}\nexit 1\n`, 'a.txt': 'changed\n' });
  await chmod(join(path, 'hooks/pre-commit'), 0o755);
  await inTree('config', 'core.hooksPath', join(path, 'hooks'));
  await inTree('config', 'filter.evil.clean', `touch ${ran}; echo filtered`);
  await writeFiles(repository.gitDir, { 'info/exclude': '*\n', 'info/attributes': '*.txt ident\n' });
  const { sha = '', files } = await commit();
  expect(files.map((file) => file.path)).toEqual(['a.txt', 'hooks/pre-commit']);
  expect(await repository.show(sha, 'a.txt')).toBe('changed\n');
  await expect(stat(ran)).rejects.toThrow();
});

test('R-TREE-8: a file over 5 MB stays out and is listed', async () => {
  const { commit, path } = await task();
  await writeFiles(path, { 'big.bin': '', 'small.bin': '' });
  await truncate(join(path, 'big.bin'), 5 * 1024 * 1024 + 1);
  await truncate(join(path, 'small.bin'), 5 * 1024 * 1024);
  const { files, leftOut } = await commit();
  expect(files.map((file) => file.path)).toEqual(['small.bin']);
  expect(leftOut).toEqual([{ path: 'big.bin', reason: 'too_large', detail: '5.0 MB, over the limit of 5 MB' }]);
});

test('R-TREE-8: a file with a secret stays as it was, whatever the spelling, and the secret is told nowhere', async () => {
  const { repository, commit, path } = await task({ 'env.ts': 'old\n', 'a.txt': 'a\n' });
  const key = `gh${'p_'}Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6`;
  await writeFiles(path, {
    'env.ts': `const t = '${secret}';\n`,
    'encoded.txt': Buffer.from(`cnb:${secret}`).toString('base64'),
    'broken.txt': `${secret.slice(0, 9)}\n${secret.slice(9)}`,
    'utf16.txt': Buffer.from(`x ${secret} y`, 'utf16le'),
    'shape.yml': `token: ${key}\n`,
    [`${secret}.txt`]: 'x',
    'a.txt': 'fine\n',
  });
  const { sha = '', files, leftOut } = await commit({ message: `uses ${secret}` });
  expect(files.map((file) => file.path)).toEqual(['a.txt']);
  expect(await repository.show(sha, 'env.ts')).toBe('old\n');
  expect(leftOut.map((entry) => entry.reason)).toEqual(Array(6).fill('secret'));
  expect(leftOut.find((entry) => entry.path === 'shape.yml')?.detail).toBe('it holds what looks like a GitHub token');
  const told = JSON.stringify(leftOut) + (await repository.git(['log', '-1', '--format=%B', sha])).stdout;
  expect(told).not.toContain(secret);
  expect(told).not.toContain(key);
});

test('R-TREE-8: a key that the file held before does not keep it from being changed', async () => {
  const key = `AK${'IA'}Q3EGRIJ7N2XP5TWC`;
  const { commit, path } = await task({ 'fixture.json': `{"key": "${key}"}\n` });
  await writeFiles(path, { 'fixture.json': `{"key": "${key}", "more": 1}\n` });
  expect((await commit()).files).toEqual([{ path: 'fixture.json', status: 'modified' }]);
});

test('R-TREE-8: nested repositories stay out, also in the place of a tracked folder', async () => {
  const { commit, path, inTree } = await task({ 'a.txt': 'a\n', 'lib/old.txt': 'o\n' });
  for (const folder of ['deep/er/cloned', 'empty', 'lib']) {
    await writeFiles(path, { [`${folder}/inside.txt`]: 'x' });
    await inTree('init', '--quiet', folder);
  }
  await inTree('-C', 'deep/er/cloned', 'add', '--all');
  await inTree('-C', 'deep/er/cloned', 'commit', '--quiet', '-m', 'nested');
  await writeFiles(path, { 'lib/old.txt': null, 'a.txt': 'changed\n' });
  const { files, leftOut } = await commit();
  expect(files.map((file) => file.path)).toEqual(['a.txt']);
  expect(leftOut.map((entry) => entry.path).sort()).toEqual(['deep/er/cloned/', 'empty/', 'lib/']);
  expect(new Set(leftOut.map((entry) => entry.reason))).toEqual(new Set(['nested_repository']));
});

test('R-TREE-8: a submodule stays where it is', async () => {
  const { repository, path, inTree } = await task();
  await inTree('update-index', '--add', '--cacheinfo', `160000,${repository.baseSha},sub`);
  await inTree('commit', '--quiet', '-m', 'with a submodule');
  const startSha = await inTree('rev-parse', 'HEAD');
  await rm(join(path, 'sub'), { recursive: true, force: true });
  await writeFiles(path, { 'a.txt': 'changed\n' });
  const options = { tree: path, startSha, message: 'm', author };
  const outcome = await commitTree(repository, options);
  expect(outcome.files).toEqual([{ path: 'a.txt', status: 'modified' }]);
  expect(outcome.leftOut).toEqual([{ path: 'sub', reason: 'nested_repository', detail: 'a submodule' }]);
  const asked = await commitTree(repository, {
    ...options,
    namedControlFiles: controlFilesNamedIn('请删除子模块 sub'),
  });
  expect(asked.files.map((file) => `${file.status} ${file.path}`)).toEqual(['modified a.txt', 'deleted sub']);
});

test('R-TREE-8: control files that the task does not name stay as they were', async () => {
  const { repository, commit, path } = await task({ '.gitignore': 'x\n', 'a.txt': 'a\n' });
  await writeFiles(path, {
    '.gitignore': 'y\n',
    'sub/.gitattributes': '* filter=lfs\n',
    '.gitmodules': '[submodule]\n',
    'sub/.gitkeep': '',
    '.github/ci.yml': 'x\n',
  });
  const { sha = '', files, leftOut } = await commit();
  expect(files.map((file) => file.path)).toEqual(['.github/ci.yml', 'sub/.gitkeep']);
  expect(leftOut.map((entry) => `${entry.reason} ${entry.path}`).sort()).toEqual([
    'control_file .gitignore',
    'control_file .gitmodules',
    'control_file sub/.gitattributes',
  ]);
  expect(await repository.show(sha, '.gitignore')).toBe('x\n');
  const named = await commit({ namedControlFiles: ['.gitignore', 'sub/.gitattributes'] });
  expect(named.leftOut.map((entry) => entry.path)).toEqual(['.gitmodules']);
});

test('R-TREE-8: a request names control files by name or by what they are for', () => {
  expect(controlFilesNamedIn('add dist to .gitignore')).toEqual(['.gitignore']);
  expect(controlFilesNamedIn('把 dist 目录忽略掉')).toEqual(['.gitignore']);
  expect(controlFilesNamedIn('make dist an ignored folder, and store *.png with LFS')).toEqual([
    '.gitignore',
    '.gitattributes',
  ]);
  expect(controlFilesNamedIn('update the submodule')).toEqual(['.gitmodules']);
  expect(controlFilesNamedIn('fix the parser, it ignores errors')).toEqual([]);
});

test('R-TREE-7: a large number of files is committed in one go', async () => {
  const { commit, path } = await task();
  await writeFiles(
    path,
    Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`many/${index % 30}/f${index}.txt`, `${index}\n`])),
  );
  const { files } = await commit();
  expect(files).toHaveLength(400);
  expect(await readFile(join(path, 'many/0/f0.txt'), 'utf8')).toBe('0\n');
});
