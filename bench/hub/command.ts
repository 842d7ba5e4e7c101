import { mkdir } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Children } from '../children.ts';
import { table } from '../table.ts';
import { type Work, works } from './cell.ts';
import { benchRelays, type RelayRow, sizes, summarise } from './relay-bench.ts';
import { type Variant, variants } from './variants/relay.ts';

interface Options {
  readonly quick?: true;
  readonly json?: true;
  readonly only?: string[];
  readonly variants: Variant[];
  readonly sizes: number[];
  readonly repetitions?: number;
  readonly profile?: string;
}

/** `bench hub`: the hub beside other relays. */
export function hubCommand(): Command {
  return new Command('hub')
    .description('the hub beside the original relay, a raw one and socket.io')
    .option('--quick', 'one repetition of everything')
    .option('--json', 'everything that was measured, as JSON')
    .option('--only <NAMES>', `some of it: echo, flood`, list)
    .addOption(new Option('--variants <NAMES>', 'some relays').argParser(list).default([...variants], 'all'))
    .addOption(new Option('--sizes <BYTES>', 'some frame sizes').argParser(numbers).default([...sizes], 'all'))
    .option('--repetitions <N>', 'default 7, quick 1', positive)
    .option('--profile <DIR>', 'write a CPU profile of each relay process into this folder')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const children = new Children();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void children.clear().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });
  try {
    const cells = await benchRelays(
      children,
      {
        variants: options.variants,
        works: works.filter((work) => isWanted(work, options.only)),
        sizes: options.sizes,
        repetitions: options.repetitions ?? (options.quick ? 1 : 7),
        size: { flood: { 256: 30_000, 4096: 12_000 }, warmUp: 500, window: 500 },
        profile: options.profile,
      },
      (line) => console.error(line),
    );
    console.log(options.json ? JSON.stringify({ cells }, undefined, 2) : relayTable(summarise(cells)));
  } finally {
    await children.clear();
  }
}

function relayTable(rows: readonly RelayRow[]): string {
  const cell = (value: number | undefined, digits: number) => value?.toFixed(digits) ?? '';
  return table(
    ['work', 'bytes', 'relay', 'CPU µs', 'msg/s', 'p50 ms', 'CPU ×', 'rate ×', 'p50 ×'],
    [...rows]
      .sort((a, b) => a.work.localeCompare(b.work) || a.bytes - b.bytes)
      .map(({ work, bytes, variant, own, ratio }) => [
        work,
        String(bytes),
        variant,
        cell(own.cpu?.median, 1),
        cell(own.rate?.median, 0),
        cell(own.p50?.median, 3),
        cell(ratio.cpu?.median, 2),
        cell(ratio.rate?.median, 2),
        cell(ratio.p50?.median, 2),
      ]),
  );
}

function isWanted(work: Work, only: readonly string[] | undefined): boolean {
  return only === undefined || only.some((name) => work.startsWith(name));
}

function list(value: string): string[] {
  return value.split(',');
}

function numbers(value: string): number[] {
  return value.split(',').map(positive);
}

function positive(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('a number from 1 on.');
  return Number(value);
}
