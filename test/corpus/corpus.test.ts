import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeFailure } from './describe-failure.ts';
import { type Kind, runCorpus } from './run-corpus.ts';

const fixture = (kind: Kind) => `test/fixtures/${kind}-cases.jsonl`;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npc-corpus-'));
});
afterAll(async () => await rm(folder, { recursive: true }));

for (const kind of ['rescue', 'sse'] as const) {
  test(`R-LLM-50: the ${kind} corpus passes whole, however it is cut`, async () => {
    const outcomes = await runCorpus(kind, fixture(kind));
    expect(outcomes.filter((outcome) => !outcome.passed).map(describeFailure)).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(100);
  });
}

test('R-LLM-50: the command shows a failed case with what differs, and counts the cases', async () => {
  const [first = '', second = ''] = (await readFile(fixture('rescue'), 'utf8')).split('\n');
  const file = join(folder, 'two.jsonl');
  await writeFile(
    file,
    `${first.replace('"src/app.ts"}}], "dropped"', '"src/other.ts"}}], "dropped"')}\n\n${second}\n`,
  );
  const { stdout, exitCode } = await command('rescue', file);
  expect(stdout).toMatch(/^FAILED r-hermes-one, cut as given$/m);
  expect(stdout).toMatch(/^ +- +path: 'src\/other\.ts'$/m);
  expect(stdout).toMatch(/^ +\+ +path: 'src\/app\.ts'$/m);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 passed, 1 failed');
  expect(exitCode).toBe(1);
});

test('R-LLM-50: what is no case is named by file and line', async () => {
  const file = join(folder, 'bad.jsonl');
  await writeFile(file, `\n{"id": "x", "chunks": []}\n`);
  await expect(runCorpus('rescue', file)).rejects.toThrow(`${file}:2: no case of this kind`);
  await writeFile(file, '{');
  expect(await command('sse', file)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`${file}:1: no JSON`),
  });
});

async function command(...words: string[]) {
  const script = ['--import', 'tsx', 'test/corpus/corpus-command.ts'];
  return await execa(process.execPath, [...script, ...words], { reject: false });
}
