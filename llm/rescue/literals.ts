import { type Cursor, isSpace, isWord, NOTHING, type Parse } from './cursor.ts';

/** `json` = JSON with raw control characters in strings and trailing commas; `python` = Python's literals as well. */
export type Dialect = 'json' | 'python';

/** What came of reading a value; `value` of one that is cut or bad is what was read of its outermost object or list. */
export interface Literal {
  /** `cut` = the text ended inside it; `bad` = it is none, and the cursor stands where that shows. */
  readonly state: 'whole' | 'bad' | 'cut';
  readonly value: unknown;
}

interface Frame {
  readonly closer: number;
  readonly list: unknown[] | undefined;
  readonly object: Record<string, unknown> | undefined;
  key: string;
  commas: number;
}

type State = 'value' | 'item' | 'key' | 'colon' | 'after' | 'string' | 'scalar' | 'done';

const DEPTH = 500;
const [QUOTE, APOSTROPHE, BACKSLASH, COMMA, COLON] = [0x22, 0x27, 0x5c, 0x2c, 0x3a];
const closers = new Map([
  [0x7b, 0x7d],
  [0x5b, 0x5d],
  [0x28, 0x29],
]);
const jsonWords = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const pythonWords = new Map<string, unknown>([...jsonWords, ['True', true], ['False', false], ['None', null]]);
const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const pythonNumber = /^[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Reads the value at the cursor, which then stands behind it. Nothing is completed by guess. */
export function* readLiteral(cursor: Cursor, dialect: Dialect): Parse<Literal> {
  const reader = new LiteralReader(dialect);
  for (;;) {
    const state = reader.run(cursor);
    if (state !== 'more') return { state, value: state === 'whole' ? reader.value : reader.partial };
    if (cursor.ended) return { state: 'cut', value: reader.partial };
    yield;
  }
}

/** Builds a value while its text comes; nesting costs a stack of its own, never the program's. */
class LiteralReader {
  value: unknown;
  /** The outermost list or object, as far as it was read. */
  partial: unknown;
  readonly #python: boolean;
  readonly #stack: Frame[] = [];
  #state: State = 'value';
  #from = 0;
  #quote = 0;
  #plain = true;
  #isKey = false;

  constructor(dialect: Dialect) {
    this.#python = dialect === 'python';
  }

  /** Takes what is there; `more` when it is used up and the value has not ended. */
  run(cursor: Cursor): 'more' | 'whole' | 'bad' {
    while (this.#state !== 'done') {
      const code = cursor.code(cursor.position);
      if (code === NOTHING && !(this.#state === 'scalar' && cursor.ended)) return 'more';
      const step = this.#step(cursor, code);
      if (step !== 'on') return step;
    }
    return 'whole';
  }

  #step(cursor: Cursor, code: number): 'on' | 'more' | 'bad' {
    switch (this.#state) {
      case 'string':
        return this.#inString(cursor);
      case 'scalar':
        return this.#inScalar(cursor);
      default:
    }
    if (isSpace(code)) {
      cursor.position += 1;
      return 'on';
    }
    const frame = this.#stack.at(-1);
    if (code === frame?.closer && (this.#state === 'item' || this.#state === 'key' || this.#state === 'after')) {
      cursor.position += 1;
      this.#close(frame);
      return 'on';
    }
    switch (this.#state) {
      case 'after':
        if (code !== COMMA || !frame) return 'bad';
        frame.commas += 1;
        this.#state = frame.object ? 'key' : 'item';
        break;
      case 'colon':
        if (code !== COLON) return 'bad';
        this.#state = 'value';
        break;
      case 'key':
        if (!this.#isQuote(code)) return 'bad';
        this.#openString(cursor, code, true);
        break;
      default:
        return this.#begin(cursor, code);
    }
    cursor.position += 1;
    return 'on';
  }

  #begin(cursor: Cursor, code: number): 'on' | 'bad' {
    const closer = closers.get(code);
    if (closer !== undefined && (code !== 0x28 || this.#python)) {
      if (this.#stack.length >= DEPTH) return 'bad';
      const isObject = code === 0x7b;
      const frame = { closer, list: isObject ? undefined : [], object: isObject ? {} : undefined, key: '', commas: 0 };
      this.partial ??= frame.object ?? frame.list;
      this.#stack.push(frame);
      this.#state = isObject ? 'key' : 'item';
    } else if (this.#isQuote(code)) {
      this.#openString(cursor, code, false);
    } else if (isScalar(code)) {
      this.#from = cursor.position;
      this.#state = 'scalar';
    } else return 'bad';
    cursor.position += 1;
    return 'on';
  }

  #close(frame: Frame): void {
    this.#stack.pop();
    const grouped = frame.closer === 0x29 && frame.commas === 0 && frame.list?.length === 1;
    this.#give(grouped ? frame.list?.[0] : (frame.object ?? frame.list));
  }

  #give(value: unknown): void {
    const frame = this.#stack.at(-1);
    this.#state = frame ? 'after' : 'done';
    if (!frame) this.value = value;
    else if (frame.object) setOwn(frame.object, frame.key, value);
    else frame.list?.push(value);
  }

  #isQuote(code: number): boolean {
    return code === QUOTE || (this.#python && code === APOSTROPHE);
  }

  #openString(cursor: Cursor, quote: number, isKey: boolean): void {
    this.#quote = quote;
    this.#isKey = isKey;
    this.#plain = true;
    this.#from = cursor.position + 1;
    this.#state = 'string';
  }

  #inString(cursor: Cursor): 'on' | 'more' | 'bad' {
    for (;;) {
      const code = cursor.code(cursor.position);
      if (code === NOTHING) return 'more';
      if (code === this.#quote) break;
      if (code !== BACKSLASH) {
        cursor.position += 1;
        continue;
      }
      const length = this.#python ? (cursor.code(cursor.position + 1) === NOTHING ? 0 : 2) : jsonEscape(cursor);
      if (length <= 0) return length === 0 ? 'more' : 'bad';
      this.#plain = false;
      cursor.position += length;
    }
    const raw = cursor.slice(this.#from, cursor.position);
    const text = this.#plain ? raw : this.#python ? unescapePython(raw) : unescapeJson(raw);
    cursor.position += 1;
    const frame = this.#stack.at(-1);
    if (this.#isKey && frame) {
      frame.key = text;
      this.#state = 'colon';
    } else this.#give(text);
    return 'on';
  }

  #inScalar(cursor: Cursor): 'on' | 'bad' {
    if (isScalar(cursor.code(cursor.position))) {
      cursor.position += 1;
      return 'on';
    }
    const text = cursor.slice(this.#from, cursor.position);
    const words = this.#python ? pythonWords : jsonWords;
    if (words.has(text)) this.#give(words.get(text));
    else if ((this.#python ? pythonNumber : jsonNumber).test(text)) this.#give(Number(text.replaceAll('_', '')));
    else return 'bad';
    return 'on';
  }
}

/** Length of the escape at the cursor; 0 while it is not all there, -1 when it is none. */
function jsonEscape(cursor: Cursor): number {
  const kind = cursor.code(cursor.position + 1);
  if (kind === NOTHING) return 0;
  if (kind !== 0x75) return '"\\/bfnrt'.includes(String.fromCharCode(kind)) ? 2 : -1;
  for (let index = 2; index < 6; index += 1) {
    const code = cursor.code(cursor.position + index);
    if (code === NOTHING) return 0;
    if (!/[0-9a-fA-F]/.test(String.fromCharCode(code))) return -1;
  }
  return 6;
}

const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeJson(raw: string): string {
  return raw.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, hex?: string, unit = '') =>
    hex === undefined ? (controls[unit] ?? unit) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const pythonEscape = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([\s\S]))/g;
const pythonControls = { ...controls, a: '\x07', v: '\v', '0': '\0', '\n': '', '\\': '\\', "'": "'", '"': '"' };

function unescapePython(raw: string): string {
  return raw.replaceAll(pythonEscape, (whole, x?: string, u?: string, wide?: string, unit = '') => {
    const hex = x ?? u ?? wide;
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return (pythonControls as Record<string, string>)[unit] ?? whole;
  });
}

function isScalar(code: number): boolean {
  return isWord(code) || code === 0x2b || code === 0x2d || code === 0x2e;
}

/** `__proto__` is a key like any other. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
