/** A parser that runs until it needs more text, yields, and goes on where it was. */
export type Parse<T> = Generator<undefined, T, undefined>;

/** What {@link Cursor.code} says where there is no text (yet). */
export const NOTHING = -1;

/** Texts of so many units are put together one by one, which is quicker for them. */
const SHORT = 16;

/** Characters kept behind the last forgotten one, for rules about what stands before an opener. */
const BEHIND = 4;

/**
 * Text that grows at its end while it is read. Positions count UTF-16 units from the very beginning. Appending and reading one unit is
 * O(1), whatever the size of the pieces, which strings do not give.
 */
export class Cursor {
  /** Where reading stands. */
  position = 0;
  #units: Uint16Array;
  /** Position of `#units[0]`. */
  #start = 0;
  #end = 0;
  #ended = false;
  /** The piece that came last: what is asked for is mostly in it. */
  #last = '';

  /** `room` = how much it can hold before it grows. */
  constructor(room = 1024) {
    this.#units = new Uint16Array(room);
  }

  /** Position behind the text that is there. */
  get end(): number {
    return this.#end;
  }

  /** True when no more text will come. */
  get ended(): boolean {
    return this.#ended;
  }

  push(text: string): void {
    this.#makeRoom(text.length);
    const offset = this.#end - this.#start;
    for (let index = 0; index < text.length; index += 1) this.#units[offset + index] = text.charCodeAt(index);
    this.#end += text.length;
    this.#last = text;
  }

  close(): void {
    this.#ended = true;
  }

  /** The UTF-16 unit at a position; {@link NOTHING} where there is none. */
  code(at: number): number {
    if (at >= this.#end || at < this.#start) return NOTHING;
    return this.#units[at - this.#start] ?? NOTHING;
  }

  /** The first position from `from` on whose unit is one of `stops` (by code, below 128); the end of the text when there is none. */
  find(stops: Uint8Array, from: number): number {
    const units = this.#units;
    const end = this.#end - this.#start;
    let at = from - this.#start;
    while (at < end && stops[units[at] ?? 0] !== 1) at += 1;
    return at + this.#start;
  }

  /** Reads as if the text from `end` on had not come yet. */
  asFarAs<T>(end: number, read: () => T): T {
    const [wholeEnd, ended] = [this.#end, this.#ended];
    this.#end = end;
    this.#ended = false;
    try {
      return read();
    } finally {
      this.#end = wholeEnd;
      this.#ended = ended;
    }
  }

  slice(from: number, to: number): string {
    const last = this.#end - this.#last.length;
    if (from >= last) return this.#last.slice(from - last, to - last);
    let text = '';
    if (to - from <= SHORT) {
      for (let at = from; at < to; at += 1) text += String.fromCharCode(this.#units[at - this.#start] ?? 0);
      return text;
    }
    for (let at = from; at < to; at += 8192) {
      const part = this.#units.subarray(at - this.#start, Math.min(at + 8192, to) - this.#start);
      text += String.fromCharCode(...part);
    }
    return text;
  }

  /** Text before this position will not be asked for again, but for the last few units. */
  forget(before: number): void {
    const start = before - BEHIND;
    if (start - this.#start < this.#units.length / 2) return;
    this.#units.copyWithin(0, start - this.#start, this.#end - this.#start);
    this.#start = start;
  }

  #makeRoom(more: number): void {
    const length = this.#end - this.#start;
    if (length + more <= this.#units.length) return;
    const larger = new Uint16Array(Math.max(this.#units.length * 2, length + more));
    larger.set(this.#units.subarray(0, length));
    this.#units = larger;
  }
}

/** Waits for a unit at `at`; false when the text ends before it. */
export function* arrive(cursor: Cursor, at = cursor.position): Parse<boolean> {
  while (at >= cursor.end) {
    if (cursor.ended) return false;
    yield;
  }
  return true;
}

/** The position of the first unit from `from` on that is no white space; the end of the text when there is none. */
export function* pastSpace(cursor: Cursor, from = cursor.position): Parse<number> {
  let at = from;
  while ((yield* arrive(cursor, at)) && isSpace(cursor.code(at))) at += 1;
  return at;
}

/** Moves to the next unit that is no white space and returns it; {@link NOTHING} at the end of the text. */
export function* nextSolid(cursor: Cursor): Parse<number> {
  cursor.position = yield* pastSpace(cursor);
  return cursor.code(cursor.position);
}

export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000;
}

/** A letter, a digit or `_`. */
export function isWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || isDigit(code) || code === 0x5f;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** What names of tools are made of: letters, digits, `_ . : -`. */
export function isNameUnit(code: number): boolean {
  return isWord(code) || code === 0x2d || code === 0x2e || code === 0x3a;
}

/** Reads a name as far as it goes; `''` when there is none. */
export function* readName(cursor: Cursor): Parse<string> {
  const from = cursor.position;
  while ((yield* arrive(cursor)) && isNameUnit(cursor.code(cursor.position))) cursor.position += 1;
  return cursor.slice(from, cursor.position);
}
