import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '../../base/log.ts';
import { connectHub } from '../../hub-client/index.ts';
import { compile } from '../helpers/compiled.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { actors, troupesIn } from './cast.ts';
import { check, type Findings } from './check.ts';
import { playPoint } from './play-point.ts';
import { drawPoints, type Point } from './points.ts';
import { Theatre } from './theatre.ts';

/** How a run is made. */
export interface ChaosOptions {
  readonly points: number;
  readonly seed: number;
  /** Processes that the 20 agents share; default 12. */
  readonly processes?: 12 | 6;
  /** Longest pause between two points, ms; default 400. */
  readonly pauseMs?: number;
  /** Empty folder for everything that the run leaves. */
  readonly folder: string;
  /** Hears a line about each point. */
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** What came of a run. */
export interface ChaosReport {
  /** Frame type, then what was done, then how often. */
  readonly hits: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly hubStarts: number;
  readonly agentStarts: number;
  readonly findings: Findings;
  /** What should not be; empty when all is well. */
  readonly faults: readonly string[];
}

/** The points that a run has: the same ones for the same seed. */
export function pointsOf({ points, seed }: Pick<ChaosOptions, 'points' | 'seed'>): Point[] {
  return drawPoints(points, seededRandom(seed).fork('points'));
}

/** How long all may take to come to rest at the end, ms. */
const REST = 60_000;

/** Runs a hub and 20 agents, hurts them at the drawn points, lets them come to rest, and checks what is left. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { folder, seed, signal } = options;
  const code = join(folder, 'code');
  await mkdir(code);
  await mkdir(join(folder, 'records'));
  const [hubFile = '', agentFile = ''] = await compile(code, [
    'test/chaos/hub-process.ts',
    'test/chaos/agent-process.ts',
  ]);
  const theatre = new Theatre({ folder, seed, hubFile, agentFile, troupes: troupesIn(options.processes ?? 12) });
  const hits = new Map<string, Map<string, number>>();
  try {
    await theatre.open();
    const random = seededRandom(seed);
    for (const [index, point] of pointsOf(options).entries()) {
      signal?.throwIfAborted();
      await playOne(theatre, point, { ...options, random, hits, number: index + 1 });
    }
    await comeToRest(theatre, signal);
    await theatre.close();
  } finally {
    await theatre.destroy();
  }
  const findings = await check({ folder, ...theatre, actors });
  for (const type of new Set(pointsOf(options).map((point) => point.type))) {
    if (!hits.has(type)) theatre.faults.push(`no point of type ${type} was reached`);
  }
  const { hubStarts, agentStarts } = theatre;
  return { hits, hubStarts, agentStarts, findings, faults: [...theatre.faults, ...findings.faults] };
}

async function playOne(
  theatre: Theatre,
  point: Point,
  {
    say,
    random,
    hits,
    number,
    points,
    pauseMs = 400,
    signal,
  }: ChaosOptions & { random: Random; hits: Map<string, Map<string, number>>; number: number },
): Promise<void> {
  const { type, deed } = point;
  const began = performance.now();
  const hit = await playPoint(theatre, point, random.fork(`point ${number}`), signal);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const where = hit === undefined ? 'not reached' : `at ${hit.lsn || 'no'} lsn, ${hit.types.length} in the commit`;
  say(`${number}/${points} ${type}: ${deed}, ${where} (${seconds} s)`);
  if (hit === undefined) theatre.faults.push(`point ${number} (${type}, ${deed}) was not reached`);
  else if (hit.type !== type) theatre.faults.push(`point ${number} (${type}, ${deed}) was reached at a ${hit.type}`);
  else {
    const deeds = hits.get(type) ?? new Map<string, number>();
    hits.set(type, deeds.set(deed, (deeds.get(deed) ?? 0) + 1));
  }
  await delay(random.between(50, pauseMs));
}

/** Nobody begins anything new; waits until every task is over. One that is not must be in the hands of an agent that is there. */
async function comeToRest(theatre: Theatre, signal: AbortSignal | undefined): Promise<void> {
  theatre.quiet();
  const onlooker = await connectHub({ url: theatre.url, name: 'onlooker', log: silentLog() });
  const unfinished = async () =>
    (await onlooker.tasks()).filter(({ state }) => state === 'pending' || state === 'running');
  const deadline = performance.now() + REST;
  try {
    while ((await unfinished()).length > 0 && performance.now() < deadline) {
      signal?.throwIfAborted();
      await delay(100);
    }
    const held = new Set((await onlooker.agents()).flatMap((agent) => agent.tasks));
    for (const { task_id, sub_state, target } of await unfinished()) {
      if (target !== '' && !held.has(task_id))
        theatre.faults.push(`task ${task_id} is ${sub_state}, and nobody has it`);
    }
    // What is on its way to somebody gets there.
    await delay(300);
  } finally {
    await onlooker.close();
  }
}
