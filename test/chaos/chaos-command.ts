/** `npm run chaos [-- --points 200 --seed N]`: hurts a hub and its agents, and says what came of it. */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe } from './report.ts';
import { runChaos } from './run-chaos.ts';

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '200' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const points = Number(values.points);
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const folder = await mkdtemp(join(tmpdir(), 'npc-chaos-'));
const stop = new AbortController();
const print = (text: string): void => void process.stdout.write(`${text}\n`);
let last = '';
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

print(`chaos: ${points} points, seed ${seed}; state in ${folder}`);
try {
  const report = await runChaos({
    points,
    seed,
    folder,
    signal: stop.signal,
    say: (line) => {
      last = line;
      print(line);
    },
  });
  print(describe(report));
  if (report.faults.length > 0) process.exitCode = 1;
} catch (error) {
  if (!stop.signal.aborted)
    print(`chaos broke off after "${last}": ${error instanceof Error ? error.stack : String(error)}`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
if (process.exitCode === 1 || values.keep) {
  print(`repeat it with: npm run chaos -- --points ${points} --seed ${seed}; the state is kept in ${folder}`);
} else await rm(folder, { recursive: true, force: true });
