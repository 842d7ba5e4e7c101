import { arrive, type Cursor, type Parse } from './cursor.ts';
import { match, type Pattern, word } from './patterns.ts';

const [LESS, BRACKET] = [0x3c, 0x5b];
const pairs = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<seed:think>', '</seed:think>'],
  ['<mm:think>', '</mm:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
].map(([opener = '', closer = '']) => ({ opener: word(opener), closer: word(closer) }));

/** A tag of thinking, with the number of its pair. */
export interface ThinkingTag {
  readonly pattern: Pattern;
  readonly pair: number;
  readonly opens: boolean;
}

/** All of them. */
export const thinkingTags: readonly ThinkingTag[] = pairs.flatMap(({ opener, closer }, pair) => [
  { pattern: opener, pair, opens: true },
  { pattern: closer, pair, opens: false },
]);

/** The closer of the thinking that opens at the cursor, behind whose opener it then stands; undefined when none opens there. */
export function* leadingThought(cursor: Cursor, at: number): Parse<Pattern | undefined> {
  for (const { opener, closer } of pairs) {
    const end = yield* match(cursor, opener, at);
    if (end < 0) continue;
    cursor.position = end;
    return closer;
  }
  return undefined;
}

/** Where the next match of `closer` begins and ends; undefined when there is none. `passed` is told how far text is certain. */
export function* findCloser(
  cursor: Cursor,
  closer: Pattern,
  passed: (to: number) => void,
): Parse<{ from: number; to: number } | undefined> {
  for (let at = cursor.position; yield* arrive(cursor, at); at += 1) {
    passed(at);
    const code = cursor.code(at);
    const end = code === LESS || code === BRACKET ? yield* match(cursor, closer, at) : -1;
    if (end >= 0) return { from: at, to: end };
  }
  passed(cursor.end);
  return undefined;
}
