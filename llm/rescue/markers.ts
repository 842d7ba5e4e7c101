import { callClosers, endOfTurnTokens, framingTokens } from './control-tokens.ts';
import { Cursor, type Parse } from './cursor.ts';
import type { Grammar } from './grammars/grammar.ts';
import { grammars, headers } from './grammars/index.ts';
import { MORE, NO, type Pattern } from './patterns.ts';
import { type ThinkingTag, thinkingTags } from './thinking-tags.ts';

/** Something that a `<` or `[` may begin. */
export type Marker = { readonly pattern: Pattern } & (
  | { readonly kind: 'opener'; readonly grammar: Grammar }
  | { readonly kind: 'thinking'; readonly tag: ThinkingTag }
  | { readonly kind: 'framing' | 'closer' | 'turn' }
);

/** What came of looking at a bracket: a marker and where it ends, or those that the end of the text cut off. */
export type Look = { readonly marker: Marker; readonly end: number } | { readonly cut: readonly Marker[] };

/** All markers of a scanner. Which of them fit the first two characters is looked up, so that a bracket in prose costs little. */
export class Markers {
  readonly #all: readonly Marker[];
  readonly #byStart = new Map<number, readonly Marker[]>();

  private constructor(all: readonly Marker[]) {
    this.#all = all;
  }

  /** Looks at the bracket at `at` until it is decided; an empty `cut` = it is text. `only` leaves the others out. */
  *look(cursor: Cursor, at: number, only: (marker: Marker) => boolean): Parse<Look> {
    while (at + 1 >= cursor.end) {
      if (cursor.ended)
        return { cut: this.#all.filter((marker) => only(marker) && marker.pattern(cursor, at) === MORE) };
      yield;
    }
    for (let alive = this.#starting(cursor.code(at), cursor.code(at + 1)).filter(only); ; ) {
      const open: Marker[] = [];
      for (const marker of alive) {
        const end = marker.pattern(cursor, at);
        if (end >= 0) return { marker, end };
        if (end === MORE) open.push(marker);
      }
      if (open.length === 0 || cursor.ended) return { cut: open };
      alive = open;
      yield;
    }
  }

  #starting(first: number, second: number): readonly Marker[] {
    const key = first * 0x10000 + second;
    let found = this.#byStart.get(key);
    if (found) return found;
    const start = new Cursor(4);
    start.push(String.fromCharCode(first, second));
    found = this.#all.filter((marker) => marker.pattern(start, 0) !== NO);
    if (this.#byStart.size < 1000) this.#byStart.set(key, found);
    return found;
  }

  /** With calls, when tools were offered. */
  static readonly all = new Markers([...openers(grammars), ...of('closer', callClosers), ...tokens()]);
  /** Without. */
  static readonly withoutCalls = new Markers([...openers(headers), ...tokens()]);
}

function openers(list: readonly Grammar[]): Marker[] {
  return list
    .filter((grammar) => grammar.at !== 'line')
    .map((grammar) => ({ kind: 'opener', grammar, pattern: grammar.opener }));
}

function tokens(): Marker[] {
  const thinking: Marker[] = thinkingTags.map((tag) => ({ kind: 'thinking', tag, pattern: tag.pattern }));
  return [...of('framing', framingTokens), ...thinking, ...of('turn', endOfTurnTokens)];
}

function of(kind: 'framing' | 'closer' | 'turn', patterns: readonly Pattern[]): Marker[] {
  return patterns.map((pattern) => ({ kind, pattern }));
}
