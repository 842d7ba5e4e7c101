import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describe } from './report.ts';
import { runFuzz } from './run-fuzz.ts';

/** A tenth of `npm run fuzz`, always the same one. */
const sample = { frames: 10_000, seed: 87 };

test('R-HUB-87: a hub that is sent 10,000 spoiled frames and requests lives, and has logged what it took and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-fuzz-'));
  const report = await runFuzz({ ...sample, folder, say: () => undefined });
  const text = `seed ${sample.seed}, state in ${folder}\n${describe(report)}`;
  process.stdout.write(`${text}\n`);
  expect(report.faults, text).toEqual([]);
  expect(report.log.own).toBe(report.log.expected);
  expect(report.log.own).toBeGreaterThan(sample.frames / 10);
  await rm(folder, { recursive: true, force: true });
}, 240_000);
