import { Command, InvalidArgumentError, Option } from 'commander';
import { Children } from '../children.ts';
import { describeMachine } from '../machine.ts';
import { untilStopped } from '../stop.ts';
import { benchMemory } from './memory.ts';
import { benchOverhead } from './overhead.ts';
import { type Results, render, writePage } from './page.ts';
import { benchThroughput } from './throughput.ts';

const parts = ['overhead', 'rescue', 'memory'] as const;
type Part = (typeof parts)[number];

interface Options {
  readonly quick?: boolean;
  readonly json?: true;
  readonly write?: true;
  readonly only: Part[];
}

/** `bench llm`: the model client beside the bare `openai` SDK. */
export function llmCommand(): Command {
  return new Command('llm')
    .description(
      'the model client beside the bare openai SDK on the same server; the rescue; memory on a reply of 10 MB',
    )
    .option('--quick', 'fewer repetitions and shorter replies')
    .option('--json', 'everything that was measured, as JSON')
    .option('--write', 'write the results into docs/bench-llm.md')
    .addOption(
      new Option('--only <PARTS>', `some parts of it, with commas between: ${parts.join(', ')}`)
        .argParser((value) => value.split(',').map(toPart))
        .default([...parts], 'all'),
    )
    .action(run);
}

function toPart(name: string): Part {
  const part = parts.find((one) => one === name);
  if (part === undefined) throw new InvalidArgumentError(`there is no ${name}.`);
  return part;
}

async function run(options: Options): Promise<void> {
  const children = new Children();
  const results = await untilStopped(children, () => measure(children, options));
  if (results === undefined) return;
  if (options.write) await writePage('docs/bench-llm.md', results);
  console.log(options.json ? JSON.stringify(results, undefined, 2) : render(results));
}

async function measure(children: Children, { quick = false, only }: Options): Promise<Results> {
  const say = (line: string) => console.error(line);
  const machine = await describeMachine();
  if (machine.busy > 0.1) say(`other work takes ${Math.round(machine.busy * 100)} % of this machine`);
  const overhead = { repetitions: quick ? 3 : 9, deltas: quick ? 5_000 : 20_000 };
  const rescue = { repetitions: quick ? 2 : 5, characters: quick ? 200_000 : 1_000_000 };
  const memory = { repetitions: quick ? 1 : 3, bytes: 10_000_000 };
  return {
    ...{ machine, quick },
    overhead: only.includes('overhead') ? await benchOverhead(children, overhead, say) : [],
    throughput: only.includes('rescue') ? await benchThroughput(children, rescue, say) : [],
    memory: only.includes('memory') ? await benchMemory(children, memory, say) : [],
  };
}
