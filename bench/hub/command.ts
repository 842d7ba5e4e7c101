import { mkdir } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Children } from '../children.ts';
import { describeMachine } from '../machine.ts';
import { untilStopped } from '../stop.ts';
import { works } from './cell.ts';
import { benchDurable } from './durable.ts';
import { judge } from './figures.ts';
import { benchIdle } from './idle.ts';
import { render, writePage } from './page.ts';
import { benchQueries } from './queries.ts';
import { benchRelays, sizes } from './relay-bench.ts';
import type { Results } from './results.ts';
import { benchStalled } from './stalled.ts';
import { type Variant, variants } from './variants/relay.ts';

const parts = ['flood', 'echo', 'durable', 'idle', 'queries', 'stalled'] as const;
type Part = (typeof parts)[number];

interface Options {
  readonly quick?: true;
  readonly json?: true;
  readonly write?: true;
  readonly only: Part[];
  readonly variants: Variant[];
  readonly sizes: number[];
  readonly repetitions?: number;
  readonly profile?: string;
}

/** `bench hub`: the hub beside other relays, and what it needs. */
export function hubCommand(): Command {
  return new Command('hub')
    .description('the hub beside the original relay, a raw one, socket.io and JetStream; its memory; its look-ups')
    .option('--quick', 'fewer repetitions and a smaller log: about two minutes instead of twelve')
    .option('--json', 'everything that was measured, as JSON')
    .option('--write', 'write the results into docs/bench-hub.md')
    .addOption(choice('--only <PARTS>', 'some parts of it', parts))
    .addOption(choice('--variants <RELAYS>', 'some relays; ratios need the original one', variants))
    .addOption(new Option('--sizes <BYTES>', 'some frame sizes').argParser(numbers).default([...sizes], sizes.join()))
    .option('--repetitions <N>', 'of all that is compared (default: 7; 2 when quick)', positive)
    .option('--profile <DIR>', 'write a CPU profile of each relay process into this folder')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run bench -- hub --quick
  $ npm run bench -- hub --only flood --variants original,level-1 --sizes 256 --repetitions 5
  $ npm run --silent bench -- hub --quick --json > bench.json`,
    )
    .action(run);
}

async function run(options: Options): Promise<void> {
  if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });
  const children = new Children();
  const results = await untilStopped(children, () => measure(children, options));
  if (results === undefined) return;
  if (options.write) await writePage('docs/bench-hub.md', results);
  console.log(options.json ? JSON.stringify({ figures: judge(results), ...results }, undefined, 2) : render(results));
}

async function measure(children: Children, options: Options): Promise<Results> {
  const { quick = false, only, profile } = options;
  const say = (line: string) => console.error(line);
  const repetitions = options.repetitions ?? (quick ? 2 : 7);
  const wants = (part: Part) => only.includes(part);
  const wanted = works.filter((work) => wants(work === 'flood' ? 'flood' : 'echo'));
  const relayPlan = {
    variants: variants.filter((variant) => options.variants.includes(variant)),
    works: wanted,
    sizes: options.sizes,
    repetitions,
    size: { flood: { 256: 30_000, 4096: 12_000 }, warmUp: 500, warmUpAlone: 2500, window: 500 },
    profile,
  };
  const machine = await describeMachine();
  if (machine.busy > 0.1) {
    say(`other work takes ${Math.round(machine.busy * 100)} % of this machine: only ratios mean something, if at all`);
  }
  const fewer = quick ? 1 : 3;
  return {
    machine,
    quick,
    relays: wanted.length > 0 ? await benchRelays(children, relayPlan, say) : [],
    durable: wants('durable') ? await benchDurable(children, repetitions, say) : [],
    idle: wants('idle')
      ? await times(fewer, () => benchIdle(children, { connections: 5_000, pingMs: quick ? 12_000 : 30_000 }, say))
      : [],
    queries: wants('queries')
      ? await benchQueries(children, { messages: quick ? 100_000 : 1_000_000, rounds: quick ? 50 : 200 }, say)
      : [],
    stalled: wants('stalled')
      ? (
          await times(fewer, () =>
            benchStalled(children, { sentBytes: 200_000_000, sizes: quick ? [4096] : [4096, 65_536] }, say),
          )
        ).flat()
      : [],
  };
}

async function times<T>(count: number, measure: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) results.push(await measure());
  return results;
}

function choice<T extends string>(flags: string, description: string, all: readonly T[]): Option {
  return new Option(flags, `${description}, with commas between: ${all.join(', ')}`)
    .argParser((value) =>
      value.split(',').map((name) => {
        if (!all.includes(name as T)) throw new InvalidArgumentError(`there is no ${name}.`);
        return name as T;
      }),
    )
    .default([...all], 'all');
}

function numbers(value: string): number[] {
  return value.split(',').map(positive);
}

function positive(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('a number from 1 on.');
  return Number(value);
}
