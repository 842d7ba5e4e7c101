import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describe } from './report.ts';
import { runChaos } from './run-chaos.ts';

/** Ten points of `npm run chaos`, always the same ones. */
const sample = { points: 10, seed: 20, processes: 6 } as const;

test('R-HUB-85: hub and agents are killed, stopped and cut at ten places in the log, and nothing accepted is lost, doubled or misapplied', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-chaos-'));
  const told: string[] = [];
  const report = await runChaos({ ...sample, folder, say: (line) => told.push(line) });
  const text = `seed ${sample.seed}, state in ${folder}\n${told.join('\n')}\n${describe(report)}`;
  process.stdout.write(`${text}\n`);
  expect(report.faults, text).toEqual([]);
  expect([...report.hits.values()].flatMap((deeds) => [...deeds.values()]).reduce((sum, count) => sum + count, 0)).toBe(
    sample.points,
  );
  expect(report.findings.delivered).toBeGreaterThan(100);
  expect(report.findings.over).toBe(report.findings.tasks);
  await rm(folder, { recursive: true, force: true });
}, 240_000);
