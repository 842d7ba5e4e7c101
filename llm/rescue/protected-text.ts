import type { Alternatives } from './alternatives.ts';
import { endsOfTurn, messageEnd } from './control-tokens.ts';
import { isSpace, NOTHING, type Parse, pastSpace } from './cursor.ts';
import { BacktickRuns, runEnd } from './guards.ts';
import type { Outlet } from './outlet.ts';
import { match, type Pattern } from './patterns.ts';

const [NEWLINE, LESS, BACKTICK, TILDE] = [0x0a, 0x3c, 0x60, 0x7e];

/** Reads the text in which an opener is only text: fences, inline code, block quotes. */
export class ProtectedText {
  readonly #outlet: Outlet;
  readonly #runs: BacktickRuns;

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
    this.#runs = new BacktickRuns(outlet.cursor);
  }

  /** A fence or a code span. Returns where literal backticks end, when it is neither. */
  *backticks(): Parse<number | undefined> {
    const { cursor, line } = this.#outlet;
    const end = yield* runEnd(cursor, cursor.position, BACKTICK);
    const length = end - cursor.position;
    if (line.blank && length >= 3) {
      const to = yield* this.#infoEnd(end);
      if (cursor.code(to) !== BACKTICK) {
        this.#outlet.take(Math.min(to + 1, cursor.end));
        yield* this.#fence(BACKTICK, length);
        return undefined;
      }
    }
    const closing = yield* this.#runs.closing(line.start, end, length);
    this.#outlet.take(closing ?? end);
    return closing === undefined ? end : undefined;
  }

  /** A fence, if there are enough of them. */
  *tildes(): Parse<void> {
    const { cursor } = this.#outlet;
    const end = yield* runEnd(cursor, cursor.position, TILDE);
    const length = end - cursor.position;
    this.#outlet.take(end);
    if (length < 3) return;
    yield* this.restOfLine();
    yield* this.#fence(TILDE, length);
  }

  /** Text up to the end of the line. */
  *restOfLine(): Parse<void> {
    const { cursor } = this.#outlet;
    for (;;) {
      const code = cursor.code(cursor.position);
      if (code === NOTHING) {
        if (cursor.ended) return;
        yield;
      } else if (code === LESS) yield* this.#bracket();
      else {
        this.#outlet.take(cursor.position + 1);
        if (code === NEWLINE) return;
      }
    }
  }

  /** The tokens at the cursor are hidden if nothing but white space and more of them follows, and text if not. */
  *trailing(tokens: Alternatives<{ readonly pattern: Pattern }>): Parse<void> {
    const { cursor } = this.#outlet;
    for (let at = cursor.position; ; ) {
      const solid = yield* pastSpace(cursor, at);
      if (cursor.code(solid) === NOTHING) return this.#outlet.hide(cursor.end);
      const token = yield* tokens.match(cursor, solid);
      if ('cut' in token) return token.cut.length > 0 ? this.#outlet.hide(cursor.end) : this.#outlet.take(at);
      at = token.end;
    }
  }

  /** Text up to the line that closes the fence, or to the end. */
  *#fence(unit: number, length: number): Parse<void> {
    const { cursor } = this.#outlet;
    let [count, closes] = [0, true];
    for (;;) {
      const code = cursor.code(cursor.position);
      if (code === NOTHING) {
        if (cursor.ended) return;
        yield;
        continue;
      }
      if (code === LESS) {
        closes = false;
        // what a model thinks ends with its message, whatever it left open
        if (this.#outlet.route === 'thinking' && (yield* match(cursor, messageEnd)) >= 0) return;
        yield* this.#bracket();
        continue;
      }
      if (code === unit) count += 1;
      else if (!isSpace(code)) closes = false;
      this.#outlet.take(cursor.position + 1);
      if (code !== NEWLINE) continue;
      if (closes && count >= length) return;
      [count, closes] = [0, true];
    }
  }

  /** Where a fence's line ends, or the backtick in it that makes it none. */
  *#infoEnd(from: number): Parse<number> {
    const { cursor } = this.#outlet;
    for (let at = from; ; ) {
      const code = cursor.code(at);
      if (code === NEWLINE || code === BACKTICK || (code === NOTHING && cursor.ended)) return at;
      if (code === NOTHING) yield;
      else at += 1;
    }
  }

  /** A `<` where nothing counts but the tokens that end a turn. */
  *#bracket(): Parse<void> {
    const { cursor } = this.#outlet;
    if ('one' in (yield* endsOfTurn.match(cursor, cursor.position))) yield* this.trailing(endsOfTurn);
    else this.#outlet.take(cursor.position + 1);
  }
}
