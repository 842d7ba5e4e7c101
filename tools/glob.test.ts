import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bench, toolBench } from '../test/helpers/tool-context.ts';
import glob from './glob.ts';

async function tree(): Promise<Bench> {
  const bench = await toolBench();
  for (const folder of ['src', 'src/深', 'node_modules', '-x'])
    await mkdir(join(bench.cwd, folder), { recursive: true });
  for (const file of ['a.ts', '!b.ts', 'src/c.ts', 'src/深/文 件.ts', 'node_modules/d.ts', '-x/e.ts', 'src/c.js'])
    await bench.put(file, 'x');
  await bench.put('.gitignore', 'node_modules\n');
  return bench;
}

test('R-TOOL-35: files are listed by pattern, in order, with ignored ones left out', async () => {
  const bench = await tree();
  const list = async (input: Record<string, unknown>) => (await bench.use(glob, input)).text.split('\n');
  expect(await list({ pattern: '*.ts' })).toEqual(['!b.ts', '-x/e.ts', 'a.ts', 'src/c.ts', 'src/深/文 件.ts']);
  expect(await list({ pattern: 'src/**' })).toEqual(['src/c.js', 'src/c.ts', 'src/深/文 件.ts']);
  expect(await list({ pattern: '/*.ts' })).toEqual(['!b.ts', 'a.ts']);
  expect(await list({ pattern: '!b*' })).toEqual(['!b.ts']);
  expect(await list({ pattern: '-x/*' })).toEqual(['-x/e.ts']);
  expect(await list({ pattern: '**/*' })).not.toContain('node_modules/d.ts');
  expect(await list({ pattern: '**/d.ts', ignored: true })).toEqual(['node_modules/d.ts']);
  expect(await list({ pattern: '*.ts', path: 'src' })).toEqual(['src/c.ts', 'src/深/文 件.ts']);
  expect(await list({ pattern: '*', limit: 2 })).toEqual([
    '!b.ts',
    '-x/e.ts',
    '[5 files left out; narrow the pattern]',
  ]);
});

test('R-TOOL-35: nothing found and an error are told apart', async () => {
  const bench = await tree();
  expect(await bench.use(glob, { pattern: '*.rs' })).toEqual({ ok: true, text: 'no files' });
  expect((await bench.use(glob, { pattern: '{a' })).text).toContain('the search failed');
  expect((await bench.use(glob, { pattern: '*', path: 'a.ts' })).ok).toBe(false);
  expect((await bench.use(glob, { pattern: '*', path: 'gone' })).text).toContain('not there');
  expect((await bench.use(glob, { pattern: '*', path: '/etc' })).text).toContain('outside');
});
