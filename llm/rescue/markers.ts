import { Alternatives } from './alternatives.ts';
import { callClosers, endOfTurnTokens, framingTokens } from './control-tokens.ts';
import type { Cursor, Parse } from './cursor.ts';
import type { Grammar } from './grammars/grammar.ts';
import { grammars, headers } from './grammars/index.ts';
import type { Pattern } from './patterns.ts';
import { type ThinkingTag, thinkingTags } from './thinking-tags.ts';

/** Something that a `<` or `[` may begin. */
export type Marker = { readonly pattern: Pattern } & (
  | { readonly kind: 'opener'; readonly grammar: Grammar }
  | { readonly kind: 'thinking'; readonly tag: ThinkingTag }
  | { readonly kind: 'framing' | 'closer' | 'turn' }
);

/** What came of looking at a bracket: a marker and where it ends, or those that the end of the text cut off. */
export type Look = { readonly one: Marker; readonly end: number } | { readonly cut: readonly Marker[] };

/** All markers of a scanner. */
export class Markers {
  readonly #all: Alternatives<Marker>;
  readonly #inThinking: Alternatives<Marker>;

  private constructor(all: readonly Marker[]) {
    this.#all = new Alternatives(all);
    this.#inThinking = new Alternatives(all.filter(isHarmony));
  }

  /** Looks at the bracket at `at` until it is decided; an empty `cut` = it is text. In a message of thinking only its end and the next header count. */
  look(cursor: Cursor, at: number, inThinking: boolean): Parse<Look> {
    return (inThinking ? this.#inThinking : this.#all).match(cursor, at);
  }

  /** With calls, when tools were offered. */
  static readonly all = new Markers([...openers(grammars), ...of('closer', callClosers), ...tokens()]);
  /** Without. */
  static readonly withoutCalls = new Markers([...openers(headers), ...tokens()]);
}

function isHarmony(marker: Marker): boolean {
  return marker.kind === 'turn' || (marker.kind === 'opener' && headers.includes(marker.grammar));
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
