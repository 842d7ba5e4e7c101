import { isObject } from '../../upstream/errors.ts';
import { arrive, type Cursor, NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { callKeys, nameIn } from '../json-units.ts';
import { readLiteral } from '../literals.ts';
import type { Tools } from '../tools.ts';

type State = 'whole' | 'cut' | 'no';
type Fields = Record<string, unknown>;

const [OPEN, CLOSE, QUOTE, BACKSLASH, COLON, COMMA] = [0x7b, 0x7d, 0x22, 0x5c, 0x3a, 0x2c];
const nameKeys = new Set(['name', 'tool_name']);

/** Reads objects that must be calls of offered tools, and gives up at the first unit that speaks against it, to hold no other text. */
export class BareObjects {
  /** The complete ones. */
  readonly values: Fields[] = [];
  /** The first complete name of an offered tool. */
  name: string | undefined;
  readonly #cursor: Cursor;
  readonly #tools: Tools;

  constructor(cursor: Cursor, tools: Tools) {
    this.#cursor = cursor;
    this.#tools = tools;
  }

  /** Reads the object at the cursor. */
  *read(): Parse<State> {
    const fields: Fields = {};
    const state = yield* this.#object(fields, false);
    if (state !== 'whole') return state;
    const inner = isObject(fields.function) ? fields.function : {};
    const name = nameIn(fields);
    const carries = [fields, inner].some((one) => 'arguments' in one || 'parameters' in one);
    if (!carries || name === undefined || this.#tools.resolve(name) === undefined) return 'no';
    this.values.push(fields);
    return 'whole';
  }

  *#object(fields: Fields, isInner: boolean): Parse<State> {
    const cursor = this.#cursor;
    cursor.position += 1;
    for (;;) {
      const first = yield* nextSolid(cursor);
      if (first === NOTHING) return 'cut';
      if (first === CLOSE) break;
      if (first !== QUOTE) return 'no';
      const key = yield* this.#string((text) => callKeys.some((known) => known.startsWith(text)));
      if (key === undefined) return cursor.code(cursor.position) === NOTHING ? 'cut' : 'no';
      if (!callKeys.includes(key)) return 'no';
      const colon = yield* nextSolid(cursor);
      if (colon !== COLON) return colon === NOTHING ? 'cut' : 'no';
      cursor.position += 1;
      const state = yield* this.#value(key, fields, isInner);
      if (state !== 'whole') return state;
      const separator = yield* nextSolid(cursor);
      if (separator === NOTHING) return 'cut';
      if (separator === COMMA) cursor.position += 1;
      else if (separator !== CLOSE) return 'no';
    }
    cursor.position += 1;
    return 'whole';
  }

  *#value(key: string, fields: Fields, isInner: boolean): Parse<State> {
    const cursor = this.#cursor;
    const first = yield* nextSolid(cursor);
    if (first === NOTHING) return 'cut';
    if (nameKeys.has(key) && first === QUOTE) {
      const name = yield* this.#string((text) => this.#tools.mayBecome(text));
      if (name === undefined) return cursor.code(cursor.position) === NOTHING ? 'cut' : 'no';
      if (this.#tools.resolve(name) === undefined) return 'no';
      this.name ??= name;
      fields[key] = name;
      return 'whole';
    }
    if (key === 'function' && first === OPEN && !isInner) {
      const inner: Fields = {};
      fields[key] = inner;
      return yield* this.#object(inner, true);
    }
    const literal = yield* readLiteral(cursor, 'json');
    fields[key] = literal.value;
    return literal.state === 'bad' ? 'no' : literal.state;
  }

  /** A string without escapes that may become something we know; undefined when it ends before or may not. */
  *#string(mayBecome: (text: string) => boolean): Parse<string | undefined> {
    const cursor = this.#cursor;
    cursor.position += 1;
    const from = cursor.position;
    for (; yield* arrive(cursor); cursor.position += 1) {
      const code = cursor.code(cursor.position);
      const text = cursor.slice(from, cursor.position);
      if (code === QUOTE) {
        cursor.position += 1;
        return text;
      }
      if (code === BACKSLASH || !mayBecome(text + String.fromCharCode(code))) return undefined;
    }
    return undefined;
  }
}
