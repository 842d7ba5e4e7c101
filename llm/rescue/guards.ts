import { arrive, type Cursor, isSpace, NOTHING, type Parse } from './cursor.ts';

const [NEWLINE, QUOTE, APOSTROPHE, BACKTICK, SPACE] = [0x0a, 0x22, 0x27, 0x60, 0x20];
const openingQuotes = new Set([...'“‘«「『'].map((unit) => unit.charCodeAt(0)));
const beforeApostrophe = new Set([...'([{=:'].map((unit) => unit.charCodeAt(0)));

/** What rules about lines need to know of the line so far: they count, so that no line is read twice. */
export class Line {
  /** Where it begins. */
  start = 0;
  /** Nothing but white space stands in it. */
  blank = true;
  #indent = 0;
  #quotes = 0;

  /** Begins a line at `at`. */
  begin(at: number): void {
    this.start = at;
    this.blank = true;
    this.#indent = 0;
    this.#quotes = 0;
  }

  /** Takes the unit at `at`, which is the next one. */
  pass(code: number, at: number): void {
    if (code === NEWLINE) this.begin(at + 1);
    else if (code === QUOTE) {
      this.#quotes += 1;
      this.blank = false;
    } else if (this.blank) {
      if (code !== SPACE) this.#indent = 4;
      this.#indent += 1;
      this.blank = isSpace(code);
    }
  }

  /** Whether a `>` here, with a space behind it, would make the line a block quote: at most three spaces stand before it. */
  get mayQuote(): boolean {
    return this.blank && this.#indent <= 3;
  }

  /** Whether what stands directly before `at` makes an opener there a mention: an opening quotation mark. */
  isMention(cursor: Cursor, at: number): boolean {
    const before = at > 0 ? cursor.code(at - 1) : NOTHING;
    if (before === QUOTE) return this.#quotes % 2 === 1;
    if (before !== APOSTROPHE) return openingQuotes.has(before);
    if (at - 1 === this.start) return true;
    const earlier = cursor.code(at - 2);
    return isSpace(earlier) || beforeApostrophe.has(earlier);
  }
}

/** The runs of backticks on one line, found by reading ahead once, whatever the number of questions. */
export class BacktickRuns {
  readonly #cursor: Cursor;
  #line = -1;
  #read = 0;
  #complete = false;
  /** Starts of runs in their order, by length; `next` = the first that is not behind us. */
  #byLength = new Map<number, { starts: number[]; next: number }>();

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** Where the next run of exactly `length` backticks on the line ends, from `from` on; undefined when there is none. */
  *closing(line: number, from: number, length: number): Parse<number | undefined> {
    if (line !== this.#line) {
      this.#line = line;
      this.#complete = false;
      this.#byLength = new Map();
      this.#read = from;
    }
    this.#read = Math.max(this.#read, from);
    for (;;) {
      const runs = this.#byLength.get(length);
      while (runs && (runs.starts[runs.next] ?? from) < from) runs.next += 1;
      const at = runs?.starts[runs.next];
      if (at !== undefined) return at + length;
      if (this.#complete) return undefined;
      yield* this.#readOn();
    }
  }

  /** Reads up to the end of the next run, or of the line. */
  *#readOn(): Parse<void> {
    const cursor = this.#cursor;
    for (; yield* arrive(cursor, this.#read); this.#read += 1) {
      const code = cursor.code(this.#read);
      if (code === NEWLINE) break;
      if (code !== BACKTICK) continue;
      const start = this.#read;
      this.#read = yield* runEnd(cursor, start, BACKTICK);
      const length = this.#read - start;
      const runs = this.#byLength.get(length) ?? { starts: [], next: 0 };
      runs.starts.push(start);
      this.#byLength.set(length, runs);
      return;
    }
    this.#complete = true;
  }
}

/** Where a run of one unit ends. */
export function* runEnd(cursor: Cursor, from: number, unit: number): Parse<number> {
  let at = from;
  while ((yield* arrive(cursor, at)) && cursor.code(at) === unit) at += 1;
  return at;
}
