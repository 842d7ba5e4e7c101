import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cell } from './cell.ts';
import { judge } from './figures.ts';
import { writePage } from './page.ts';
import { ratios, summarise } from './relay-bench.ts';
import type { Results } from './results.ts';
import type { Variant } from './variants/relay.ts';

const nothing: Results = {
  machine: { cores: 2, node: '20.20.2', system: 'linux x64', pinned: true, busy: 0 },
  quick: false,
  relays: [],
  durable: [],
  idle: [],
  queries: [],
  stalled: [],
};

function cell(variant: Variant, repetition: number, cpu: number, rate = 1_000 / cpu): Cell {
  return { work: 'flood', bytes: 256, variant, repetition, messages: 1, cpu, rate };
}

test('R-HUB-89: a ratio is of two figures of the same repetition, and their median is shown', () => {
  // The machine was ten times slower in the second repetition, for both.
  const relays = [
    ...[cell('original', 1, 10), cell('level-1', 1, 20)],
    ...[cell('original', 2, 100), cell('level-1', 2, 150)],
    ...[cell('original', 3, 10), cell('level-1', 3, 16)],
    cell('level-1', 4, 1),
  ];
  const comparison = { work: 'flood', bytes: 256, variant: 'level-1', measure: 'cpu' } as const;
  expect(ratios(relays, comparison)).toEqual([2, 1.5, 1.6]);
  const [, ours] = summarise(relays);
  expect(ours?.ratio.cpu).toEqual({ median: 1.6, low: 1.55, high: 1.8 });
  expect(ours?.ratio.p50).toBeUndefined();
});

test('R-HUB-89: a figure reaches its aim, or the target alone, or is missed', () => {
  const verdicts = (variant: Variant, cpu: number) =>
    judge({ ...nothing, relays: [cell('original', 1, 10), cell(variant, 1, cpu)] }).map(({ what, verdict }) => [
      what,
      verdict,
    ]);
  const flood = ['flood 256 B: CPU per message', 'flood 256 B: rate'];
  expect(verdicts('level-1', 9)).toEqual(flood.map((what) => [what, 'reached']));
  expect(verdicts('level-1', 16)).toEqual(flood.map((what) => [what, 'target']));
  expect(verdicts('level-1', 25)).toEqual(flood.map((what) => [what, 'missed']));
  expect(judge(nothing)).toEqual([]);
  const query = { query: 'tail of 100', messages: 1_000_000, found: 100, p95: 9 } as const;
  expect(judge({ ...nothing, queries: [{ ...query, p50: 21 }] })).toMatchObject([{ verdict: 'missed' }]);
  const run = {
    way: 'resumes',
    bytes: 4096,
    sentBytes: 2e8,
    before: 0,
    peakStalled: 1,
    peakReading: 1,
    inOrder: true,
  } as const;
  expect(judge({ ...nothing, stalled: [{ ...run, sent: 9, received: 8 }] })).toMatchObject([
    { verdict: 'reached' },
    { verdict: 'missed', measured: { median: 1 } },
  ]);
});

test('R-HUB-89: the page is written anew but for what was written by hand', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-page-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'bench-hub.md');
  const relays = [cell('original', 1, 10), cell('level-1', 1, 17)];
  await writePage(path, { ...nothing, relays });
  const first = await readFile(path, 'utf8');
  expect(first).toMatch(/\| flood 256 B: CPU per message \| ≤ 2 × +\| ≤ 1\.5 × +\| 1\.70 × +\| 1\.70–1\.70 \| target/);
  await writeFile(path, `${first}\nParsing, mostly.\n`);
  await writePage(path, nothing);
  const second = await readFile(path, 'utf8');
  expect(second).not.toContain('1.70');
  expect(second).toMatch(/## What costs the time\n\nParsing, mostly\.\n$/);
});
