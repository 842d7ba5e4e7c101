import { isObject } from '../upstream/errors.ts';
import { type Cursor, isSpace, NOTHING, type Parse } from './cursor.ts';
import { match, type Pattern } from './patterns.ts';
import { parseTolerant } from './tolerant-json.ts';
import type { Tools } from './tools.ts';

/** Something that was clearly a call and could not be used. */
export interface DroppedCall {
  readonly format: string;
  /** The tool it names, when that could be read. */
  readonly name?: string;
  readonly reason: 'cut_off' | 'invalid' | 'unknown_tool' | 'nameless';
}

/** A call as it was written, before it has an id. */
export interface FoundCall {
  readonly format: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The smallest piece with an ending of its own. */
export type Unit = FoundCall | DroppedCall;

/** Where a message without recipient goes on. */
export type Channel = 'content' | 'thinking';

/** One block while it is read: what was found in it, and what a grammar needs to read it. */
export class Block {
  readonly cursor: Cursor;
  readonly tools: Tools;
  /** Where its opener begins. */
  readonly start: number;
  /** Nothing but white space and blocks stand before it. */
  readonly fresh: boolean;
  readonly units: Unit[] = [];
  format: string;
  /** Set by a header that is no call: what follows is a message of this channel. */
  channel: Channel | undefined;

  constructor(cursor: Cursor, tools: Tools, format: string, place: { start: number; fresh: boolean }) {
    this.cursor = cursor;
    this.tools = tools;
    this.format = format;
    this.start = place.start;
    this.fresh = place.fresh;
  }

  drop(reason: DroppedCall['reason'], name?: string): void {
    this.units.push({ format: this.format, reason, ...(name ? { name: this.tools.resolve(name) ?? name } : {}) });
  }

  /** Drops a unit in which the text ended, and all that is left of the text. */
  cut(name?: string): void {
    const unknown = name && this.tools.resolve(name) === undefined;
    this.drop(unknown ? 'unknown_tool' : 'cut_off', name);
    this.cursor.position = this.cursor.end;
  }

  /** Takes a unit whose text is complete. `input` is an object, its JSON in a string, or nothing at all. */
  take(name: string | undefined, input: unknown): void {
    const tool = name === undefined ? undefined : this.tools.resolve(name);
    const object = toInput(input);
    if (name === undefined || name === '') this.drop('invalid');
    else if (tool === undefined) this.drop('unknown_tool', name);
    else if (object === undefined) this.drop('invalid', tool);
    else this.units.push({ format: this.format, name: tool, input: object });
  }

  /** Drops a unit that stopped being valid at the cursor, and moves behind its closer, or to the end of the text. */
  *dropTo(closer: Pattern, name?: string): Parse<void> {
    this.drop('invalid', name);
    yield* skipTo(this.cursor, closer);
  }
}

/** Moves behind the next place where `closer` matches, or to the end of the text. */
export function* skipTo(cursor: Cursor, closer: Pattern): Parse<void> {
  for (;;) {
    const code = cursor.code(cursor.position);
    if (code === NOTHING) {
      if (cursor.ended) return;
      yield;
      continue;
    }
    const end = isSpace(code) ? -1 : yield* match(cursor, closer);
    if (end >= 0) {
      cursor.position = end;
      return;
    }
    cursor.position += 1;
  }
}

function toInput(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') return isObject(value) ? value : undefined;
  if (value.trim() === '') return {};
  const parsed = parseTolerant(value);
  return isObject(parsed) ? parsed : undefined;
}
