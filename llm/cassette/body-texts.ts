import { SseReader } from '../reader/sse-reader.ts';
import { isObject, parseJson } from '../upstream/errors.ts';

/** Values that lie deeper are taken as JSON. */
const DEEPEST = 64;

/** A text in the JSON of a body, and where it stands: entries of a list are told apart by their `index`. */
interface BodyText {
  readonly path: string;
  readonly key: string;
  readonly text: string;
}

/** The texts in a body, of all its events, whether a reader cares for them or not. Keys of objects have the path `keys`. */
export function textsIn(body: string): BodyText[] {
  const texts: BodyText[] = [];
  const keys = new Set<string>();
  const walk = (value: unknown, path: string, key: string, depth: number): void => {
    if (typeof value === 'string') texts.push({ path, key, text: value });
    else if (typeof value !== 'object' || value === null) return;
    else if (depth === DEEPEST) texts.push({ path, key, text: JSON.stringify(value) });
    else if (Array.isArray(value)) {
      for (const one of value) walk(one, `${path}.${isObject(one) ? (one.index ?? 0) : 0}`, key, depth + 1);
    } else {
      for (const [name, one] of Object.entries(value)) {
        keys.add(name);
        walk(one, `${path}.${name}`, name, depth + 1);
      }
    }
  };
  for (const value of valuesIn(body)) walk(value, '', '', 0);
  return [...texts, ...[...keys].map((text) => ({ path: `keys ${text}`, key: '', text }))];
}

/** The body as one value of JSON, or the values of its events; lines that are no JSON are texts. */
function valuesIn(body: string): unknown[] {
  const plain = plainIn(body);
  if (plain !== undefined) return [plain];
  const sse = new SseReader();
  const events = [...sse.push(new TextEncoder().encode(body)), ...sse.end()];
  return events.flatMap(({ lines }) => {
    const whole = parseJson(lines.join('\n'));
    return whole === undefined ? lines.map((line) => parseJson(line) ?? line) : [whole];
  });
}

/** The value of a body that is JSON and no event stream. */
export function plainIn(body: string): unknown {
  return /^\s*[[{]/.test(body) ? parseJson(body) : undefined;
}
