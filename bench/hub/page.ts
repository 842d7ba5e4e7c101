import { writeAbove } from '../write-above.ts';
import { judge } from './figures.ts';
import type { Results } from './results.ts';
import { figureTable, sections } from './tables.ts';

/** From here on the page is written by hand, and kept. */
const BY_HAND = '## What costs the time';

/** Results as Markdown, for a terminal too. */
export function render(results: Results): string {
  const figures = judge(results);
  const parts = sections(results).map(({ title, note, table }) =>
    [`## ${title}`, ...(note === undefined ? [] : [note]), table].join('\n\n'),
  );
  const goals = figures.length === 0 ? [] : [`## Figures to reach\n\n${figureTable(figures)}`];
  return [...goals, ...parts].join('\n\n');
}

/** Writes the page; what was written by hand below the figures stays. */
export async function writePage(path: string, results: Results): Promise<void> {
  await writeAbove(path, BY_HAND, `${head(results)}\n\n${render(results)}`);
}

function head({ machine, quick, relays }: Results): string {
  const repetitions = Math.max(0, ...relays.map(({ repetition }) => repetition));
  return `# The hub, measured

\`npm run bench -- hub --write\` measures everything on this page and writes it anew (\`--quick\` for a first look; \`npm run bench -- hub --help\` for parts of it).${quick ? ' **This is a quick run: figures of one or few repetitions.**' : ''}

Measured on ${machine.cores} cores, Node ${machine.node}, ${machine.system}; ${machine.pinned ? 'the measured server had the first core, its clients the second' : 'nothing was kept on a core of its own'}; other work took ${Math.round(machine.busy * 100)} % of the machine before; repetitions of the relays: ${repetitions}.

**Method.** Other work and other machines move absolute figures by a factor of two or more, so ratios count: in each repetition all relays are measured one after the other, the original relay first, and a ratio is one relay's figure by another one's of the same repetition and size; shown are medians and quartiles over the repetitions. Every cell has a relay process of its own, warmed up for half a second before each window, and for two and a half seconds with one in flight, when far fewer messages pass. Frames have exactly 256 or 4,096 bytes: the five fields, padded with one letter; our level 1 adds \`v\` and an \`id\` of its own per frame and has the same size. Clients send texts built before and do not parse (socket.io's client does its own work). *Echo*: one or 64 frames are under way, each answered by one of the other client; a round trip is two relayed messages. *Flood*: 30,000 frames (12,000 at 4 KiB) one way, at most 2,048 under way and 1 MiB in the sender's buffer. CPU is the user and system time of the relay's whole process, until 50 ms after the last message.

**Relays.** \`original\`: a map of names, each frame parsed and written anew. \`raw\`: each frame handed on as it came. \`level-0\` and \`level-1\`: this hub with everything on, its log in a file, only the inbound rate limit off; a level-1 receiver reads \`seq\` from the bytes and acknowledges every 16th message and the last. \`socket.io\`: a map of names; \`socket.io-recovery\`: rooms and connectionStateRecovery, which keeps messages in memory.`;
}
