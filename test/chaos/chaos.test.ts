import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Hit } from './halting-storage.ts';
import { describe } from './report.ts';
import { pointsOf, runChaos } from './run-chaos.ts';

/** Ten points of `npm run chaos`, always the same ones. */
const sample = { points: 10, seed: 20, processes: 6, pauseMs: 100 } as const;

test('R-HUB-85: hub and agents are killed, stopped and cut at ten places in the log, and nothing accepted is lost, doubled or misapplied', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-chaos-'));
  const told: string[] = [];
  const report = await runChaos({ ...sample, folder, say: (line) => told.push(line) });
  const text = `seed ${sample.seed}, state in ${folder}\n${told.join('\n')}\n${describe(report)}`;
  process.stdout.write(`${text}\n`);
  expect(report.faults, text).toEqual([]);
  const points = pointsOf(sample);
  expect(new Set(points.map(({ type }) => type)).size).toBe(sample.points);
  const deedsAt = points.map(({ type }) => [...(report.hits.get(type)?.keys() ?? [])]);
  expect(deedsAt, text).toEqual(points.map(({ deed }) => [deed]));
  // what the hub itself wrote down before it was killed or went on, beside the first commit of one that is killed again
  const hits = (await readFile(join(folder, 'hits.jsonl'), 'utf8')).trimEnd().split('\n');
  const kinds = hits.map((line) => (JSON.parse(line) as Hit).type);
  const again = points.filter(({ deed }) => deed === 'hub killed, again at its first commit').length;
  expect(kinds).toHaveLength(sample.points + again);
  for (const { type } of points)
    expect(kinds.splice(0, kinds.indexOf(type) + 1), `${type} after those before`).toContain(type);
  // each deed that kills the hub has it started once more, and twice where it is killed again
  const kills = points.filter(({ deed }) => deed.startsWith('hub') && deed !== 'hub stopped').length;
  expect(report.hubStarts).toBe(1 + kills + again);
  expect(report.findings.delivered).toBeGreaterThan(100);
  expect(report.findings.tasks).toBeGreaterThan(10);
  expect(report.findings.over).toBe(report.findings.tasks);
  await rm(folder, { recursive: true, force: true });
}, 240_000);
