import type { Children } from '../children.ts';
import type { ClientHandlers } from './client-process.ts';
import { piece, tool } from './streams.ts';

/** One text that went through the rescue once; CPU in µs. */
export interface ThroughputCell {
  readonly text: string;
  /** Characters of a delta. */
  readonly size: number;
  readonly bytes: number;
  readonly cpu: number;
  readonly calls: number;
}

const call = JSON.stringify({
  name: tool.function.name,
  arguments: { path: 'src/cart.mjs', text: 'return total < 300;' },
});

/** What a model may write, by what it is. */
const texts: Readonly<Record<string, (characters: number) => string>> = {
  'prose and code': (characters) => {
    let text = '';
    for (let index = 0; text.length < characters; index += 1) text += piece(index);
    return text;
  },
  'fenced HTML': (characters) => `\`\`\`html\n${fill('<div class="a"><tool>x</tool></div>\n', characters)}\n\`\`\`\n`,
  'calls in tags': (characters) => fill(`<tool_call>${call}</tool_call>\n`, characters),
  'calls as XML': (characters) =>
    fill(
      '<tool_call><function=write_file><parameter=path>a</parameter><parameter=text>if (a < b) x();</parameter></function></tool_call>\n',
      characters,
    ),
};

/** Puts every text through the rescue, in deltas of one character, of a token, and whole. */
export async function benchThroughput(
  children: Children,
  { repetitions, characters }: { repetitions: number; characters: number },
  say: (line: string) => void,
): Promise<ThroughputCell[]> {
  const cells: ThroughputCell[] = [];
  const settings = { name: 'client', baseURL: 'http://127.0.0.1:9/v1' };
  const child = await children.start<ClientHandlers>('llm/client-process', settings, { core: 0 });
  for (const [name, write] of Object.entries(texts)) {
    const text = write(characters);
    const bytes = Buffer.byteLength(text);
    for (const size of [1, 4, text.length]) {
      await child.ask('rescue', { text, size });
      for (let repetition = 0; repetition < repetitions; repetition += 1) {
        cells.push({ text: name, size, bytes, ...(await child.ask('rescue', { text, size })) });
      }
    }
    say(`rescue: ${name}`);
  }
  await child.end();
  return cells;
}

function fill(unit: string, characters: number): string {
  return unit.repeat(Math.ceil(characters / unit.length));
}
