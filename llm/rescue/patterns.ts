import { type Cursor, isSpace, isWord, NOTHING, type Parse } from './cursor.ts';

/** The text does not match. */
export const NO = -1;
/** It matches as far as it goes, and may match when more has come. */
export const MORE = -2;

/**
 * Looks for something short at a position: where it ends, {@link NO} or {@link MORE}. Patterns are bounded in length (white space inside
 * them too), so that asking again with every unit that comes stays linear.
 */
export type Pattern = (cursor: Cursor, at: number) => number;

/** Most white space that a pattern takes in one place. */
const SPACES = 8;

/** `｜`, `▁`, and what models write for them. */
const [BAR, BLANK, PIPE, UNDERSCORE, SPACE, BACKSLASH] = [0xff5c, 0x2581, 0x7c, 0x5f, 0x20, 0x5c];

/** Exactly this text. */
export function word(text: string): Pattern {
  const codes = [...text].map((unit) => unit.charCodeAt(0));
  return (cursor, at) => {
    for (let index = 0; index < codes.length; index += 1) {
      const code = cursor.code(at + index);
      if (code === NOTHING) return MORE;
      if (code !== codes[index]) return NO;
    }
    return at + codes.length;
  };
}

/** A DeepSeek-like token, in which `｜` and `|` are equal, and `▁`, `_`, a space and `\_` are. */
export function special(text: string): Pattern {
  const codes = [...text].map((unit) => unit.charCodeAt(0));
  // one loop and no sequence of patterns: this is asked at each `<` of long texts
  return (cursor, at) => {
    let to = at;
    for (const wanted of codes) {
      const escaped = wanted === BLANK && cursor.code(to) === BACKSLASH;
      if (escaped) to += 1;
      const code = cursor.code(to);
      if (code === NOTHING) return MORE;
      if (escaped ? code !== UNDERSCORE : !isUnit(code, wanted)) return NO;
      to += 1;
    }
    return to;
  };
}

function isUnit(code: number, wanted: number): boolean {
  if (wanted === BAR) return code === BAR || code === PIPE;
  if (wanted === BLANK) return code === BLANK || code === UNDERSCORE || code === SPACE;
  return code === wanted;
}

const bar: Pattern = oneOf(String.fromCharCode(PIPE, BAR));
const spaces: Pattern = repeat(isSpace, 0, SPACES);
const bars = sequence(spaces, bar, optional(bar), spaces);

/** What stands before the name in a DSML tag: bars, single or doubled, around `DSML`, with white space as it comes. */
export const dsml: Pattern = sequence(bars, word('DSML'), bars);

/** A short namespace with its colon, as in `antml:`. */
export const namespace: Pattern = sequence(repeat(isWord, 1, 16), word(':'));

export function oneOf(units: string): Pattern {
  const codes = [...units].map((unit) => unit.charCodeAt(0));
  return (cursor, at) => {
    const code = cursor.code(at);
    return code === NOTHING ? MORE : codes.includes(code) ? at + 1 : NO;
  };
}

/** Between `min` and `max` units of a kind, as many as there are. */
export function repeat(isOne: (code: number) => boolean, min: number, max: number): Pattern {
  return (cursor, at) => {
    let to = at;
    for (; to - at < max; to += 1) {
      const code = cursor.code(to);
      if (code === NOTHING) return cursor.ended && to - at >= min ? to : MORE;
      if (!isOne(code)) break;
    }
    return to - at >= min ? to : NO;
  };
}

export function optional(pattern: Pattern): Pattern {
  return (cursor, at) => {
    const end = pattern(cursor, at);
    return end === NO ? at : end;
  };
}

export function sequence(...patterns: readonly Pattern[]): Pattern {
  return (cursor, at) => {
    let to = at;
    for (const pattern of patterns) {
      to = pattern(cursor, to);
      if (to < 0) return to;
    }
    return to;
  };
}

/** Matches where `pattern` begins, without its text. */
export function before(pattern: Pattern): Pattern {
  return (cursor, at) => {
    const end = pattern(cursor, at);
    return end >= 0 ? at : end;
  };
}

/** The first pattern that matches; {@link MORE} while none does and one still may. */
export function anyOf(...patterns: readonly Pattern[]): Pattern {
  return (cursor, at) => {
    let best = NO;
    for (const pattern of patterns) {
      const end = pattern(cursor, at);
      if (end >= 0) return end;
      if (end === MORE) best = MORE;
    }
    return best;
  };
}

/** Matches once it is decided: where it ends, {@link NO}, or {@link MORE} when the text ended in the middle. */
export function* match(cursor: Cursor, pattern: Pattern, at = cursor.position): Parse<number> {
  for (;;) {
    const end = pattern(cursor, at);
    if (end !== MORE || cursor.ended) return end;
    yield;
  }
}
