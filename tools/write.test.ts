import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { toolBench } from '../test/helpers/tool-context.ts';
import read from './read.ts';
import write from './write.ts';

test('R-TOOL-15: a new file is written with its folders, byte for byte', async () => {
  const bench = await toolBench();
  const outcome = await bench.use(write, { path: 'a/b/文.txt', content: 'one\ntwo' });
  expect(outcome).toEqual({ ok: true, text: 'made a/b/文.txt: 2 lines', filesTouched: ['a/b/文.txt'] });
  expect(await bench.text('a/b/文.txt')).toBe('one\ntwo');
  expect(await readdir(join(bench.cwd, 'a/b'))).toEqual(['文.txt']);
});

test('R-TOOL-15: a file that was not read, or changed since, is not overwritten', async () => {
  const bench = await toolBench();
  await bench.put('a.txt', 'old');
  expect((await bench.use(write, { path: 'a.txt', content: 'new' })).text).toContain('was not read');
  await bench.use(read, { path: 'a.txt' });
  await bench.put('a.txt', 'somebody else');
  expect((await bench.use(write, { path: 'a.txt', content: 'new' })).text).toContain('has changed since');
  expect(await bench.text('a.txt')).toBe('somebody else');
  await bench.use(read, { path: 'a.txt' });
  expect((await bench.use(write, { path: 'a.txt', content: 'new' })).ok).toBe(true);
  // What it wrote itself it knows.
  expect((await bench.use(write, { path: 'a.txt', content: 'newer' })).ok).toBe(true);
  expect(await bench.text('a.txt')).toBe('newer');
});

test('R-TOOL-16: mode, encoding, mark and line ends of the old file are kept', async () => {
  const bench = await toolBench();
  await bench.put('run.sh', '#!/bin/sh\n');
  await chmod(join(bench.cwd, 'run.sh'), 0o755);
  await bench.put('gbk.txt', iconv.encode('你好\r\n世界，中文\r\n', 'gb18030'));
  await bench.put('bom.txt', '\uFEFFone\r\ntwo\r\n');
  for (const path of ['run.sh', 'gbk.txt', 'bom.txt']) await bench.use(read, { path });
  await bench.use(write, { path: 'run.sh', content: '#!/bin/sh\ntrue\n' });
  expect((await stat(join(bench.cwd, 'run.sh'))).mode & 0o777).toBe(0o755);
  const { text } = await bench.use(write, { path: 'gbk.txt', content: '再见\n世界\n' });
  expect(text).toBe('replaced gbk.txt: 2 lines; CRLF kept, gb18030 kept');
  expect(await bench.bytes('gbk.txt')).toEqual(iconv.encode('再见\r\n世界\r\n', 'gb18030'));
  await bench.use(write, { path: 'bom.txt', content: 'three\n' });
  expect(await bench.text('bom.txt')).toBe('\uFEFFthree\r\n');
});

test('R-TOOL-16: a text that the old encoding cannot hold becomes UTF-8, and the answer says so', async () => {
  const bench = await toolBench();
  await bench.put('l1.txt', Buffer.from('un café très chaud\n', 'latin1'));
  await bench.use(read, { path: 'l1.txt' });
  expect((await bench.use(write, { path: 'l1.txt', content: 'café 茶\n' })).text).toContain('now UTF-8');
  expect(await bench.text('l1.txt')).toBe('café 茶\n');
});

test('R-TOOL-17: nothing is written outside the work tree, nor to where a symlink leads out, nor into .git', async () => {
  const bench = await toolBench();
  const outside = join(bench.cwd, '..', 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'file'), 'kept');
  await symlink('../outside', join(bench.cwd, 'dir'));
  await symlink('../outside/file', join(bench.cwd, 'file'));
  await symlink('../outside/new', join(bench.cwd, 'dangling'));
  await mkdir(join(bench.cwd, '.git'));
  for (const path of [
    '../outside/x',
    'dir/x',
    'file',
    'dangling',
    'dir/deep/x',
    '.git/hooks/pre-commit',
    'sub/.GIT/x',
    '.',
    '',
  ]) {
    expect((await bench.use(write, { path, content: 'x' })).ok, path).toBe(false);
  }
  expect(await readdir(outside)).toEqual(['file']);
  expect(await readFile(join(outside, 'file'), 'utf8')).toBe('kept');
});

test('R-TOOL-17: a symlink inside the tree stays one, and its target is written', async () => {
  const bench = await toolBench();
  await bench.put('target', 'old');
  await symlink('target', join(bench.cwd, 'link'));
  await bench.use(read, { path: 'link' });
  expect((await bench.use(write, { path: 'link', content: 'new' })).filesTouched).toEqual(['target']);
  expect((await lstat(join(bench.cwd, 'link'))).isSymbolicLink()).toBe(true);
  expect(await bench.text('target')).toBe('new');
});

test('R-TOOL-17: a folder or a file in the way is named, and no temporary file stays', async () => {
  const bench = await toolBench();
  await mkdir(join(bench.cwd, 'folder'));
  await bench.put('file', 'x');
  expect((await bench.use(write, { path: 'folder', content: 'x' })).text).toContain('is a folder');
  expect((await bench.use(write, { path: 'file/x', content: 'x' })).text).toContain('a file where a folder should be');
  expect(await readdir(bench.cwd)).toEqual(['file', 'folder']);
});
