import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { toolBench } from '../test/helpers/tool-context.ts';
import read from './read.ts';

test('R-TOOL-10: lines come with their numbers, and a long file by pages', async () => {
  const bench = await toolBench();
  await bench.put('a.txt', `${Array.from({ length: 2000 }, (_, at) => `line ${at + 1}`).join('\n')}\n`);
  const first = await bench.use(read, { path: 'a.txt' });
  expect(first.text).toMatch(/^ {5}1\tline 1\n {5}2\tline 2\n/);
  expect(first.text).toMatch(/\[lines 1-900 of 2000; go on with offset 901]$/);
  const next = await bench.use(read, { path: 'a.txt', offset: 901, limit: 2 });
  expect(next.text).toBe('   901\tline 901\n   902\tline 902\n[lines 901-902 of 2000; go on with offset 903]');
  expect(await bench.use(read, { path: 'a.txt', offset: 3000 })).toMatchObject({ ok: false });
  expect((await bench.use(read, { path: 'a.txt', offset: 1999 })).text).toBe('  1999\tline 1999\n  2000\tline 2000');
});

test('R-TOOL-10: an answer stays below the cap of the loop, counted in bytes', async () => {
  const bench = await toolBench();
  await bench.put('han.txt', `${'汉字'.repeat(40)}\n`.repeat(800));
  const { text } = await bench.use(read, { path: 'han.txt' });
  expect(Buffer.byteLength(text)).toBeLessThan(32_000);
  expect(text).toMatch(/go on with offset \d+]$/);
});

test('R-TOOL-10: a file of one 5 MB line is shown by its beginning', async () => {
  const bench = await toolBench();
  await bench.put('one.json', 'x'.repeat(5_000_000));
  const { text } = await bench.use(read, { path: 'one.json' });
  expect(text.length).toBeLessThan(2100);
  expect(text).toMatch(/… 49981\d\d characters of this line left out/);
});

test.each([
  ['a two-byte letter behind 999 letters', `${'a'.repeat(999)}é`],
  ['a CJK letter over bytes 4095-4097', `${'a'.repeat(4095)}汉${'a'.repeat(10)}`],
  ['CJK letters over each power of two', Array.from({ length: 70_000 }, () => '汉').join('')],
  ['an emoji over byte 512', `${'a'.repeat(510)}😀`],
  ['a text with escape sequences', '\x1b[31mred\x1b[0m\n'],
])('R-TOOL-11: %s is text', async (_name, content) => {
  const bench = await toolBench();
  await bench.put('t.txt', content);
  const { text } = await bench.use(read, { path: 't.txt' });
  expect(text).not.toContain('binary');
  expect(text).not.toContain('\uFFFD');
});

test.each([
  ['gb18030', '你好，世界。\n第二行 abc\n'],
  ['gb18030', '注释：这是 GBK 编码的文件\nint main() { return 0; }\n'],
  ['utf-16le', '你好 world\n'],
  ['utf-16be', '你好 world\n'],
  ['latin1', 'café au lait, déjà vu, naïve\n'],
])('R-TOOL-12: a file in %s is read as what it says, and the encoding named', async (encoding, content) => {
  const bench = await toolBench();
  await bench.put('t.txt', iconv.encode(content, encoding, { addBOM: encoding.startsWith('utf-16') }));
  const { text } = await bench.use(read, { path: 't.txt' });
  for (const line of content.trimEnd().split('\n')) expect(text).toContain(`\t${line}\n`);
  expect(text).toContain(`[encoding ${encoding}; write and edit keep it]`);
});

test('R-TOOL-12: one broken byte in a Chinese UTF-8 file does not make it another encoding', async () => {
  const bench = await toolBench();
  await bench.put('t.txt', Buffer.concat([Buffer.from('你好世界，这里都是对的\n'), Buffer.from([0xff, 0x0a])]));
  const { text } = await bench.use(read, { path: 't.txt' });
  expect(text).toContain('你好世界，这里都是对的');
  expect(text).toContain('some bytes are no valid characters');
});

test('R-TOOL-12: a program, a picture and a file with zeros are binary', async () => {
  const bench = await toolBench();
  await bench.put('a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  await bench.put('b.bin', Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256)));
  expect((await bench.use(read, { path: 'a.png' })).text).toBe('a.png is a binary file of 16 bytes.');
  expect((await bench.use(read, { path: 'b.bin' })).text).toContain('is a binary file');
});

test('R-TOOL-13: what lies outside the work tree is refused, also through a symlink', async () => {
  const bench = await toolBench();
  await writeFile(join(bench.cwd, '..', 'secret'), 'x');
  await symlink('../secret', join(bench.cwd, 'link'));
  await symlink('..', join(bench.cwd, 'up'));
  for (const path of [
    '../secret',
    '/etc/passwd',
    'link',
    'up/secret',
    'a/../../secret',
    join(bench.cwd, '..', 'secret'),
  ]) {
    const outcome = await bench.use(read, { path });
    expect(outcome.ok, path).toBe(false);
    expect(outcome.text, path).toContain('outside the work tree');
  }
});

test('R-TOOL-13: a name that begins with two dots, and the absolute path of a file in the tree, are fine', async () => {
  const bench = await toolBench();
  await bench.put('..odd', 'x\n');
  expect((await bench.use(read, { path: '..odd' })).text).toContain('x');
  expect((await bench.use(read, { path: join(bench.cwd, '..odd') })).text).toContain('x');
});

test('R-TOOL-14: folders are listed, and what cannot be read is named with what helps', async () => {
  const bench = await toolBench();
  await mkdir(join(bench.cwd, '源码'));
  await bench.put('源码/主.ts', 'x');
  await bench.put('empty', '');
  execFileSync('mkfifo', [join(bench.cwd, 'pipe')]);
  expect((await bench.use(read, { path: '.' })).text).toContain('源码/');
  expect((await bench.use(read, { path: '源码/主.js' })).text).toBe(
    '源码/主.js is not there; did you mean 源码/主.ts?',
  );
  expect((await bench.use(read, { path: 'no/such' })).text).toContain('nor is its folder');
  expect((await bench.use(read, { path: 'empty' })).text).toBe('empty is empty.');
  expect((await bench.use(read, { path: 'pipe' })).text).toContain('no regular file');
});
