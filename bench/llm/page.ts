import type { Machine } from '../machine.ts';
import { spread } from '../statistics.ts';
import { megabytes, quartiles, short, table } from '../table.ts';
import { writeAbove } from '../write-above.ts';
import { clients } from './clients.ts';
import type { MemoryCell } from './memory.ts';
import { type OverheadCell, toSdk } from './overhead.ts';
import { cuts, works } from './streams.ts';
import type { ThroughputCell } from './throughput.ts';

/** Everything that one run of the bench measured; a part that was not asked for is empty. */
export interface Results {
  readonly machine: Machine;
  readonly quick: boolean;
  readonly overhead: readonly OverheadCell[];
  readonly throughput: readonly ThroughputCell[];
  readonly memory: readonly MemoryCell[];
}

/** CPU per delta to the bare SDK's that our client must not go above. */
const MOST = 1.3;

/** Results as Markdown, for a terminal too. */
export function render(results: Results): string {
  return [overhead(results), throughput(results), memory(results)].filter((part) => part !== '').join('\n\n');
}

/** Writes the page; what was written by hand below the figures stays. */
export async function writePage(path: string, results: Results): Promise<void> {
  await writeAbove(path, '## What costs the time', `${head(results)}\n\n${render(results)}`);
}

function head({ machine, quick, overhead: cells }: Results): string {
  const repetitions = Math.max(0, ...cells.map(({ repetition }) => repetition));
  return `# The model client, measured

\`npm run bench -- llm --write\` measures everything on this page and writes it anew (\`--quick\` for a first look; \`npm run bench -- llm --help\` for parts of it).${quick ? ' **This is a quick run: figures of few repetitions.**' : ''}

Measured on ${machine.cores} cores, Node ${machine.node}, ${machine.system}; ${machine.pinned ? 'the server had the first core, the clients the second' : 'nothing was kept on a core of its own'}; other work took ${Math.round(machine.busy * 100)} % of the machine before; repetitions: ${repetitions}.

**Method.** One server of chat completions streams the same reply to each client in turn; a ratio is a client's CPU time by the SDK's of the same repetition, and shown are medians and quartiles. CPU is the user and system time of the client's whole process for one reply, connection and all. *alone*: each delta is written by itself; *gathered*: 16 KiB at once. A delta is about a token: a word, a mark, two Chinese characters.

**Clients.** \`sdk\`: the \`openai\` package with its own iterator, text and arguments put together by hand. \`client\`: this project's reader behind the same package, with the search for leaked calls and the watch for silence. \`gateway\`: an agent's whole way, over HTTP to the gateway of its run and from there to the server; both ends are in the one process that is measured.`;
}

function overhead({ overhead: cells }: Results): string {
  if (cells.length === 0) return '';
  const rows = works.flatMap((work) =>
    cuts.flatMap((cut) =>
      clients.map((client) => {
        const own = cells.filter((cell) => cell.work === work && cell.cut === cut && cell.client === client);
        const cpu = spread(own.map((cell) => cell.cpu / cell.deltas));
        const wall = spread(own.map((cell) => cell.wall / cell.deltas));
        const ratio = spread(toSdk(cells, { work, cut, client }));
        const verdict = client !== 'client' ? '' : ratio.median <= MOST ? 'reached' : 'missed';
        const times = client === 'sdk' ? '' : `${short(ratio.median)} (${quartiles(ratio)})`;
        return [work, cut, client, short(cpu.median), short(wall.median), times, verdict];
      }),
    ),
  );
  const titles = ['reply', 'written', 'client', 'CPU µs', 'wall µs', 'CPU × sdk', `≤ ${MOST} ×`];
  return `## Overhead per delta\n\n${table(titles, rows)}`;
}

function throughput({ throughput: cells }: Results): string {
  if (cells.length === 0) return '';
  const names = [...new Set(cells.map(({ text }) => text))];
  const rows = names.flatMap((text) => {
    const sizes = [...new Set(cells.filter((cell) => cell.text === text).map(({ size }) => size))];
    return sizes.map((size) => {
      const own = cells.filter((cell) => cell.text === text && cell.size === size);
      const rate = spread(own.map(({ bytes, cpu }) => bytes / cpu));
      const delta = size === sizes.at(-1) ? 'whole' : String(size);
      return [text, delta, short(rate.median), quartiles(rate), String(own[0]?.calls ?? 0)];
    });
  });
  const note = 'Text through the search for leaked calls alone, in deltas of so many characters; MB/s of CPU time.';
  return `## Rescue\n\n${note}\n\n${table(['text', 'delta', 'MB/s', 'quartiles', 'calls found'], rows)}`;
}

function memory({ memory: cells }: Results): string {
  const [first] = cells;
  if (first === undefined) return '';
  const rows = (['in deltas', 'in one delta'] as const).flatMap((stream) =>
    (['sdk', 'client'] as const).map((client) => {
      const own = cells.filter((cell) => cell.stream === stream && cell.client === client);
      const before = spread(own.map((cell) => cell.before));
      const growth = spread(own.map((cell) => cell.peak - cell.before));
      return [stream, client, megabytes(before.median), megabytes(growth.median)];
    }),
  );
  return `## A reply of 10 MB\n\nResident memory of a new process that reads it.\n\n${table(['the reply comes', 'client', 'RSS before MB', 'growth MB'], rows)}`;
}
