/** What the measured replies hold; each is the same number of deltas. */
export const works = ['text', 'call', 'thinking'] as const;
export type Work = (typeof works)[number];

/** How a reply reaches its reader: each delta in a write of its own, or many at once as behind a proxy that gathers. */
export const cuts = ['alone', 'gathered'] as const;
export type Cut = (typeof cuts)[number];

/** The stream that a server is asked for, by `model`: `text-alone-20000`. */
export function streamName(work: Work, cut: Cut, deltas: number): string {
  return `${work}-${cut}-${deltas}`;
}

/** Reads {@link streamName}; undefined when it is none. */
export function streamNamed(name: string): { work: Work; cut: Cut; deltas: number } | undefined {
  const [work, cut, deltas] = name.split('-');
  if (!works.includes(work as Work) || !cuts.includes(cut as Cut) || !/^\d+$/.test(deltas ?? '')) return undefined;
  return { work: work as Work, cut: cut as Cut, deltas: Number(deltas) };
}

/** Prose and code as a model writes them, with marks that a rescue has to look at; a piece is about a token. */
const words =
  'The cart adds `price * count`, so a < b holds; 正好满三百元时 优惠 也算。 if (total >= 300) return { total: total - 40 }; // "fine"\n';
const pieces = words.match(/[A-Za-z]+ ?|[\u4e00-\u9fff]{1,2}|./gsu) ?? [];

/** The `index`-th piece of a reply's text. */
export function piece(index: number): string {
  return pieces[index % pieces.length] ?? '';
}

/** The tool that requests offer, and calls name. */
export const tool = {
  type: 'function',
  function: {
    name: 'write_file',
    parameters: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } } },
  },
} as const;

/** The events of a reply, as their bytes go over the wire. */
export function* eventsOf(work: Work, deltas: number): Iterable<string> {
  yield event({ role: 'assistant', content: '' });
  if (work === 'call') {
    const open = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: tool.function.name, arguments: '{"text":"' },
    };
    yield event({ tool_calls: [open] });
    for (let index = 0; index < deltas; index += 1) {
      const text = JSON.stringify(piece(index)).slice(1, -1);
      yield event({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    }
    yield event({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] });
  } else {
    const field = work === 'thinking' ? 'reasoning_content' : 'content';
    for (let index = 0; index < deltas; index += 1) yield event({ [field]: piece(index) });
    if (work === 'thinking') yield event({ content: 'Done.' });
  }
  yield event({}, work === 'call' ? 'tool_calls' : 'stop');
  yield `data: ${JSON.stringify({ ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens: deltas, total_tokens: deltas + 10 } })}\n\n`;
  yield 'data: [DONE]\n\n';
}

const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'bench' };

function event(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}
