import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { toolBench } from '../test/helpers/tool-context.ts';
import grep from './grep.ts';

test.each(['-77', '--flag', '- [ ]', '-e', '--', '!x'])(
  'R-TOOL-30: the pattern %s is searched for, not obeyed',
  async (pattern) => {
    const bench = await toolBench();
    await bench.put('a.md', `first\nhas ${pattern} inside\n`);
    expect((await bench.use(grep, { pattern, literal: true })).text).toBe(`a.md:2:has ${pattern} inside`);
    const expression = pattern.replace(/[[\]]/g, '\\$&');
    expect((await bench.use(grep, { pattern: expression })).text).toBe(`a.md:2:has ${pattern} inside`);
  },
);

test('R-TOOL-30: a path and a glob that begin with a dash are names', async () => {
  const bench = await toolBench();
  await mkdir(join(bench.cwd, '--help'));
  await bench.put('--help/-v', 'needle\n');
  expect((await bench.use(grep, { pattern: 'needle', path: '--help' })).text).toBe('--help/-v:1:needle');
  expect((await bench.use(grep, { pattern: 'needle', path: '--help/-v' })).text).toBe('--help/-v:1:needle');
  expect((await bench.use(grep, { pattern: 'needle', glob: '-*' })).text).toBe('--help/-v:1:needle');
});

test('R-TOOL-31: no match and an error are told apart', async () => {
  const bench = await toolBench();
  await bench.put('a.txt', 'x\n');
  expect(await bench.use(grep, { pattern: 'nothing' })).toEqual({ ok: true, text: 'no matches' });
  const broken = await bench.use(grep, { pattern: '(unclosed' });
  expect(broken.ok).toBe(false);
  expect(broken.text).toMatch(/the search failed: .*unclosed group/s);
  expect((await bench.use(grep, { pattern: 'x', glob: '{a' })).ok).toBe(false);
  expect((await bench.use(grep, { pattern: 'x', path: 'gone' })).text).toContain('not there');
  expect((await bench.use(grep, { pattern: 'x', path: '..' })).text).toContain('outside');
});

test('R-TOOL-31: what ripgrep complains about beside the matches is told', async () => {
  const bench = await toolBench();
  await bench.put('.gitignore', '{broken\n');
  await bench.put('a.txt', 'x\n');
  expect((await bench.use(grep, { pattern: 'x' })).text).toMatch(/^a.txt:1:x\n\[warning: .*\.gitignore: line 1/);
});

test('R-TOOL-32: Chinese names, Chinese words and names with colons come out as they are', async () => {
  const bench = await toolBench();
  await mkdir(join(bench.cwd, '源码'));
  await bench.put('源码/主 程序.ts', 'a\n// 注释：测试\n');
  await bench.put('a:1:b.txt', 'plain 测试\n');
  await bench.put('gbk.txt', iconv.encode('标题\n内容：只在这里\n', 'gb18030'));
  expect((await bench.use(grep, { pattern: '测试' })).text).toBe(
    'a:1:b.txt:1:plain 测试\n源码/主 程序.ts:2:// 注释：测试',
  );
  expect((await bench.use(grep, { pattern: '测试', path: '源码' })).text).toBe('源码/主 程序.ts:2:// 注释：测试');
  // Only a file in GBK has it.
  expect((await bench.use(grep, { pattern: '只在' })).text).toBe('gbk.txt:2:内容：只在这里');
});

test('R-TOOL-33: what git ignores and git itself are left out, with a glob too, unless asked for', async () => {
  const bench = await toolBench();
  execFileSync('git', ['init', '-q'], { cwd: bench.cwd });
  await mkdir(join(bench.cwd, 'node_modules'));
  await bench.put('node_modules/x.js', 'needle\n');
  await bench.put('built.js', 'needle\n');
  await bench.put('.hidden.js', 'needle\n');
  await bench.put('.gitignore', 'node_modules\nbuilt.js\n');
  await bench.put('.git/needle.js', 'needle\n');
  for (const glob of [undefined, '*.js', '**/*', '*']) {
    const { text } = await bench.use(grep, { pattern: 'needle', ...(glob && { glob }) });
    expect(text, glob).toBe('.hidden.js:1:needle');
  }
  const all = await bench.use(grep, { pattern: 'needle', ignored: true });
  expect(all.text.split('\n')).toEqual(['.hidden.js:1:needle', 'built.js:1:needle', 'node_modules/x.js:1:needle']);
});

test('R-TOOL-34: context, files only, multiline and the limit', async () => {
  const bench = await toolBench();
  await bench.put('a.txt', 'one\r\ntwo\r\nthree\r\n');
  await bench.put('b.txt', `${'two\n'.repeat(150)}`);
  expect((await bench.use(grep, { pattern: 'two', path: 'a.txt', context: 1 })).text).toBe(
    'a.txt-1-one\na.txt:2:two\na.txt-3-three',
  );
  expect((await bench.use(grep, { pattern: 'TWO', ignore_case: true, files_only: true })).text).toBe('a.txt\nb.txt');
  expect((await bench.use(grep, { pattern: 'two\\ntwo', multiline: true, limit: 1 })).text).toMatch(
    /^b.txt:1:two\n\[149 lines left out/,
  );
  await bench.put('c.txt', `${'y'.repeat(5_000_000)}z`);
  expect((await bench.use(grep, { pattern: 'yz' })).text.length).toBeLessThan(600);
});
