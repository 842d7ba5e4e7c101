import type { Masker } from '../../base/mask.ts';
import type { Exchange } from './format.ts';
import { maskPieces } from './mask-pieces.ts';

type Chunks = Exchange['chunks'];

/**
 * A reply without secrets: those in its bytes, cut by chunks or not, and those that a model said over several deltas. Undefined when
 * it has none.
 */
export function maskReply(chunks: Chunks, masker: Masker): Chunks | undefined {
  const raw = maskPieces(textsOf(chunks), masker);
  const clean = raw ? chunks.map(([ms], at): Chunks[number] => [ms, raw[at] ?? '']) : chunks;
  return maskDeltas(clean, masker) ?? (raw && clean);
}

/** The stream written anew, an event a chunk, where the texts of its deltas held a secret together. */
function maskDeltas(chunks: Chunks, masker: Masker): Chunks | undefined {
  const events = eventsOf(chunks);
  const channels = new Map<string, { event: number; path: Path; text: string }[]>();
  for (const [at, { value }] of events.entries()) {
    for (const { path, name, text } of leavesOf((value as { choices?: unknown } | undefined)?.choices, ['choices'])) {
      const channel = channels.get(name) ?? [];
      channels.set(name, channel);
      channel.push({ event: at, path, text });
    }
  }
  let found = false;
  for (const channel of channels.values()) {
    const masked = maskPieces(
      channel.map(({ text }) => text),
      masker,
    );
    if (!masked) continue;
    found = true;
    for (const [at, { event, path }] of channel.entries()) {
      const one = events[event];
      if (one) one.value = withText(one.value, path, masked[at] ?? '');
      if (one) one.changed = true;
    }
  }
  if (!found) return undefined;
  return events.map(({ ms, text, value, changed }) => [ms, changed ? writtenAnew(text, value) : text]);
}

interface Event {
  readonly ms: number;
  /** As it came, with its blank line. */
  readonly text: string;
  value: unknown;
  changed: boolean;
}

/** The events of a stream; what is none is one too, without a value. */
function eventsOf(chunks: Chunks): Event[] {
  const events: Event[] = [];
  let rest = '';
  const take = (ms: number, text: string) => events.push({ ms, text, value: jsonIn(text), changed: false });
  for (const [ms, text] of chunks) {
    // a blank line may be cut, but what was looked at before holds no whole one
    let from = Math.max(0, rest.length - 3);
    rest += text;
    for (let end = endOfEvent(rest, from); end > 0; end = endOfEvent(rest, from)) {
      take(ms, rest.slice(0, end));
      rest = rest.slice(end);
      from = 0;
    }
  }
  if (rest !== '') take(chunks.at(-1)?.[0] ?? 0, rest);
  return events;
}

function endOfEvent(text: string, from: number): number {
  const line = /\r?\n\r?\n|\r\r(?!\n)/g;
  line.lastIndex = from;
  const blank = line.exec(text);
  return blank ? blank.index + blank[0].length : -1;
}

function jsonIn(text: string): unknown {
  const data = /^data:(.*)$/gm;
  try {
    return JSON.parse([...text.matchAll(data)].map(([, line]) => line).join('\n'));
  } catch {
    return undefined;
  }
}

/** The other lines of the event stay, such as its name. */
function writtenAnew(text: string, value: unknown): string {
  const others = text.split(/\r?\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return [...others, `data: ${JSON.stringify(value)}`, '', ''].join('\n');
}

type Path = readonly (string | number)[];

/** The texts in a value. Those of one `name` go on with each other from delta to delta: entries of a list are told apart by their index. */
function* leavesOf(value: unknown, path: Path, name = ''): Iterable<{ path: Path; name: string; text: string }> {
  if (typeof value === 'string') yield { path, name, text: value };
  else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      const step = Array.isArray(value) ? Number(key) : key;
      const index = Array.isArray(value) ? ((one as { index?: unknown } | null)?.index ?? 0) : key;
      yield* leavesOf(one, [...path, step], `${name}.${index}`);
    }
  }
}

function withText(value: unknown, [step, ...rest]: Path, text: string): unknown {
  if (step === undefined) return text;
  if (Array.isArray(value)) return value.map((one, at) => (at === step ? withText(one, rest, text) : one));
  const object = value as Record<string, unknown>;
  return { ...object, [step]: withText(object[step], rest, text) };
}

function textsOf(chunks: Chunks): string[] {
  return chunks.map(([, text]) => text);
}
