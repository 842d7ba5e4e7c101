import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { compile } from '../helpers/compiled.ts';
import { seededRandom } from '../helpers/random.ts';
import { checkLog, type LogFindings } from './check-log.ts';
import { FuzzPeer, type Tally } from './fuzz-peer.ts';
import { makeNoise } from './http-noise.ts';
import { memoryOf, openHandles } from './process-facts.ts';
import { peers } from './valid-frames.ts';

/** How a run is made. */
export interface FuzzOptions {
  readonly frames: number;
  readonly seed: number;
  /** Empty folder for everything that the run leaves. */
  readonly folder: string;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** What came of a run. */
export interface FuzzReport {
  readonly sent: number;
  readonly connections: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly closes: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly log: LogFindings;
  readonly handles: { readonly before: readonly string[]; readonly after: readonly string[] };
  /** MiB, after each twentieth of the frames. */
  readonly memory: readonly number[];
  readonly faults: readonly string[];
}

const PARTS = 20;

/** Handles of the thread that reads and tidies the store, which is started when it is first needed. */
const THREAD = 8;

/** Memory that the hub may take at any time, MiB. */
const MEMORY = 700;

/** Sends a hub frames and requests that nobody should, and looks whether it stands. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { folder, seed, frames, say, signal } = options;
  const random = seededRandom(seed);
  const code = join(folder, 'code');
  await mkdir(code);
  const [file = ''] = await compile(code, ['test/helpers/hub-process.ts']);
  const database = join(folder, 'log.db');
  const child = spawn(process.execPath, [file, database], {
    stdio: ['ignore', 'pipe', openSync(join(folder, 'hub.stderr'), 'a'), 'ipc'],
    env: { PATH: process.env.PATH },
    // A Ctrl-C at the terminal is for the test, which ends its process itself.
    detached: true,
  });
  const ended = once(child, 'exit').then(([exit, by]) => exit ?? by);
  const faults: string[] = [];
  const memory: number[] = [];
  try {
    const died = ended.then((how) => Promise.reject(new Error(`the hub did not start: ${how}, see hub.stderr`)));
    const [line] = (await Promise.race([once(child.stdout as Readable, 'data'), died])) as [Buffer];
    const port = Number(new URL(String(line).trim()).port);
    const pid = child.pid ?? 0;
    const guns = peers.map((name) => new FuzzPeer(name, port, random.fork(name)));
    const noise = new Noise(port);
    await noise.make(50, random.fork('first noise'));
    for (const gun of guns) await gun.shoot(20);
    await quieten(guns);
    const before = await settledHandles(pid);
    for (let part = 1; part <= PARTS; part += 1) {
      signal?.throwIfAborted();
      const each = Math.ceil(frames / PARTS / guns.length);
      const work = [...guns.map((gun) => gun.shoot(each)), noise.make(each / 8, random.fork(`noise ${part}`))];
      await Promise.race([Promise.all(work), ended.then((how) => Promise.reject(new Error(`the hub ended: ${how}`)))]);
      memory.push(await memoryOf(pid));
      if (part % 4 === 0) say(`${guns.reduce((sum, gun) => sum + gun.tally.sent, 0)} frames, ${memory.at(-1)} MiB`);
    }
    await quieten(guns);
    const handles = { before, after: await settledHandles(pid, before.length) };
    faults.push(...(await isReady(port)));
    child.kill('SIGKILL');
    await ended;
    const tallies = guns.map(({ tally }) => tally);
    const log = await checkLog(database, tallies);
    faults.push(...log.faults, ...tallies.flatMap((tally) => tally.faults));
    const extra = more(handles.after, before);
    if (extra.length > THREAD || extra.some((handle) => handle.startsWith('socket'))) {
      faults.push(`${before.length} open handles before, ${handles.after.length} after: ${extra.join(', ')}`);
    }
    if (Math.max(...memory) > MEMORY) faults.push(`the hub took ${Math.max(...memory)} MiB`);
    const stderr = await readFile(join(folder, 'hub.stderr'), 'utf8');
    if (stderr !== '') faults.push(`the hub wrote to stderr: ${stderr.slice(0, 1000)}`);
    return {
      sent: sum(tallies, (tally) => tally.sent),
      connections: sum(tallies, (tally) => tally.connections),
      errors: merged(tallies.map((tally) => tally.errors)),
      closes: merged(tallies.map((tally) => tally.closes)),
      requests: noise.requests,
      answers: noise.answers,
      log,
      handles,
      memory,
      faults,
    };
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** Requests that have nothing to do with WebSockets, or spoil their beginning. */
class Noise {
  requests = 0;
  readonly answers: Record<string, number> = {};
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  async make(count: number, random: ReturnType<typeof seededRandom>): Promise<void> {
    for (let number = 0; number < count; number += 4) {
      const lines = await Promise.all(
        [1, 2, 3, 4].map((own) => makeNoise(this.#port, random.fork(`${number}.${own}`))),
      );
      for (const line of lines) {
        this.requests += 1;
        const status = /^HTTP\/1\.1 (\d+)/.exec(line)?.[1] ?? 'none';
        this.answers[status] = (this.answers[status] ?? 0) + 1;
      }
    }
  }
}

async function quieten(guns: readonly FuzzPeer[]): Promise<void> {
  await Promise.all(guns.map((gun) => gun.leave()));
}

/** Open handles once their number does not change any more, or is down to `wanted`. */
async function settledHandles(pid: number, wanted = 0): Promise<string[]> {
  let last = await openHandles(pid);
  for (let time = 0, same = 0; time < 100 && same < 5 && last.length > wanted; time += 1) {
    await delay(50);
    const now = await openHandles(pid);
    same = now.length === last.length ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** What is in one list beyond the other. */
function more(after: readonly string[], before: readonly string[]): string[] {
  const left = [...before];
  return after.filter((handle) => {
    const place = left.indexOf(handle);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}

async function isReady(port: number): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  const text = await response.text();
  return response.status === 200 ? [] : [`/readyz answers ${response.status}: ${text.slice(0, 200)}`];
}

function sum(tallies: readonly Tally[], of: (tally: Tally) => number): number {
  return tallies.reduce((total, tally) => total + of(tally), 0);
}

function merged(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const counts of all) for (const [key, count] of Object.entries(counts)) total[key] = (total[key] ?? 0) + count;
  return total;
}
