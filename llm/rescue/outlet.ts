import { Cursor, isSpace, NOTHING } from './cursor.ts';
import { Line } from './guards.ts';
import type { Sink } from './sink.ts';

const [NEWLINE, QUOTE] = [0x0a, 0x22];
/** What means something in the middle of a line: `<`, `[`, a backtick, a quotation mark, its end. */
const special = new Uint8Array(128);
for (const code of [0x3c, 0x5b, 0x60, QUOTE, NEWLINE]) special[code] = 1;

/** Sorts the text behind the cursor into what is handed on and what is taken out, and knows what that means for the text to come. */
export class Outlet {
  readonly cursor = new Cursor();
  readonly line = new Line();
  readonly sink: Sink;
  /** Only white space and closers since the last block. */
  afterBlock = false;
  /** Only white space and blocks since the start or the last block. */
  fresh = true;
  #route: 'text' | 'thinking' = 'text';
  /** Text before the first position was handed on; text before the second may be. */
  #shown = 0;
  #safe = 0;

  constructor(sink: Sink) {
    this.sink = sink;
  }

  /** Where text goes. */
  get route(): 'text' | 'thinking' {
    return this.#route;
  }

  turnTo(route: 'text' | 'thinking'): void {
    this.flush();
    this.#route = route;
  }

  /** In a line that has begun, everything up to the next unit that means something is text. */
  takePlain(): void {
    const { cursor, line } = this;
    let to = cursor.position;
    if (!line.blank && !this.afterBlock && !this.fresh) {
      to = cursor.find(special, to);
      cursor.position = to;
      this.#safe = to;
    }
    const code = cursor.code(to);
    if (code !== NOTHING && (special[code] !== 1 || code === NEWLINE || code === QUOTE)) this.take(to + 1);
  }

  /** Everything up to `to` is text. */
  take(to: number): void {
    const { cursor, line } = this;
    for (let at = cursor.position; at < to; at += 1) {
      const code = cursor.code(at);
      line.pass(code, at);
      if (isSpace(code)) continue;
      this.afterBlock = false;
      this.fresh = false;
    }
    cursor.position = to;
    this.#safe = to;
  }

  /** Everything up to `to` is certain; the cursor stays. */
  release(to: number): void {
    this.#safe = to;
  }

  /** Everything up to `to` is no text; `tell` gets it. */
  remove(to: number, tell: (raw: () => string) => void): void {
    this.flush();
    tell(() => this.cursor.slice(this.#shown, to));
    for (let at = this.#shown; at < to; at += 1) this.line.pass(this.cursor.code(at), at);
    this.cursor.position = to;
    this.#shown = to;
    this.#safe = to;
    this.cursor.forget(to);
  }

  /** Takes a token out. `transparent` = the line goes on as if it had not been there. */
  hide(to: number, transparent = false): void {
    const { blank } = this.line;
    this.remove(to, (raw) => this.sink.hidden(raw));
    if (blank && transparent) this.line.begin(to);
  }

  /** Hands on what is certain. */
  flush(): void {
    if (this.#safe === this.#shown) return;
    const text = this.cursor.slice(this.#shown, this.#safe);
    this.#shown = this.#safe;
    this.cursor.forget(this.#shown);
    this.sink[this.#route](text);
  }
}
