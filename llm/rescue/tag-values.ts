import { type Cursor, isSpace, NOTHING, type Parse, pastSpace } from './cursor.ts';
import { MORE, match, type Pattern } from './patterns.ts';
import { parseTolerant } from './tolerant-json.ts';

/** The tags around a value. */
export interface ValueTags {
  /** An opener of the same kind: inside a value it must first meet its own closer. */
  readonly open: Pattern;
  readonly close: Pattern;
  /** What follows a closer that counts, white space apart: the next parameter, or the closer of the unit. */
  readonly next: Pattern;
}

const LESS = 0x3c;

/**
 * Reads a value up to its closer, behind which the cursor then stands; undefined when the text ends before. A closer that nothing
 * structural follows is data.
 */
export function* readValue(cursor: Cursor, tags: ValueTags): Parse<string | undefined> {
  const from = cursor.position;
  for (let depth = 0; ; ) {
    const code = cursor.code(cursor.position);
    if (code === NOTHING) {
      if (cursor.ended) return undefined;
      yield;
      continue;
    }
    if (code !== LESS) {
      cursor.position += 1;
      continue;
    }
    const opened = yield* match(cursor, tags.open);
    if (opened >= 0) {
      depth += 1;
      cursor.position = opened;
      continue;
    }
    const to = cursor.position;
    const closed = yield* match(cursor, tags.close);
    if (closed < 0) {
      cursor.position += 1;
      continue;
    }
    cursor.position = closed;
    if (depth > 0) {
      depth -= 1;
      continue;
    }
    const next = yield* pastSpace(cursor, closed);
    const follows = yield* match(cursor, tags.next, next);
    if (follows === MORE) return undefined;
    if (follows >= 0) return cursor.slice(from, to);
    cursor.position = next;
  }
}

/** The value without one newline at its start and, independently, one at its end (`each`), or only where both are there (`both`). */
export function trimNewlines(raw: string, which: 'each' | 'both'): string {
  const start = /^\r?\n/.exec(raw)?.[0].length ?? 0;
  const end = /\r?\n$/.exec(raw.slice(start))?.[0].length ?? 0;
  if (which === 'both' && (start === 0 || end === 0)) return raw;
  return raw.slice(start, raw.length - end);
}

/** A tag's text as the value that its parameter's types ask for; the text itself when they do not say or it does not fit. */
export function typedValue(raw: string, types: readonly string[] | undefined): unknown {
  const wanted = types?.filter((type) => type !== 'string') ?? [];
  if (types === undefined || wanted.length === 0) return raw;
  const value = jsonOf(raw);
  if (value === undefined) return raw;
  return types.length === 1 || wanted.some((type) => hasType(value, type)) ? value : raw;
}

/** A text as JSON, or as Python's word for a JSON word; undefined when it is neither. */
export function jsonOf(raw: string): unknown {
  switch (raw.trim()) {
    case 'True':
      return true;
    case 'False':
      return false;
    case 'None':
      return null;
    default:
      return parseTolerant(raw);
  }
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Reads up to `closer`, behind which the cursor then stands; undefined when the text ends before. */
export function* readUntil(cursor: Cursor, closer: Pattern): Parse<string | undefined> {
  const from = cursor.position;
  for (;;) {
    const code = cursor.code(cursor.position);
    if (code === NOTHING) {
      if (cursor.ended) return undefined;
      yield;
      continue;
    }
    const end = isSpace(code) ? -1 : yield* match(cursor, closer);
    if (end >= 0) {
      const text = cursor.slice(from, cursor.position);
      cursor.position = end;
      return text;
    }
    cursor.position += 1;
  }
}
