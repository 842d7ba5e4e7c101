/** `npm run fuzz [-- --frames 100000 --seed N]`: sends a hub what nobody should, and says what came of it. */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe } from './report.ts';
import { runFuzz } from './run-fuzz.ts';

const { values } = parseArgs({
  options: {
    frames: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const frames = Number(values.frames);
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const folder = await mkdtemp(join(tmpdir(), 'npc-fuzz-'));
const stop = new AbortController();
const print = (text: string): void => void process.stdout.write(`${text}\n`);
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

print(`fuzz: ${frames} frames, seed ${seed}; state in ${folder}`);
try {
  const report = await runFuzz({ frames, seed, folder, say: print, signal: stop.signal });
  print(describe(report));
  if (report.faults.length > 0) process.exitCode = 1;
} catch (error) {
  if (!stop.signal.aborted) print(`fuzz broke off: ${error instanceof Error ? error.stack : String(error)}`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
if (process.exitCode === 1 || values.keep) {
  print(`repeat it with: npm run fuzz -- --frames ${frames} --seed ${seed}; the state is kept in ${folder}`);
} else await rm(folder, { recursive: true, force: true });
