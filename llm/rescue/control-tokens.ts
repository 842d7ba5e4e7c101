import { Alternatives } from './alternatives.ts';
import { anyOf, dsml, namespace, optional, type Pattern, sequence, special, word } from './patterns.ts';

/** Tokens that end a turn; with nothing but white space or more of them behind they are hidden. */
export const endOfTurnTokens: readonly Pattern[] = [
  ...['<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end|>', '<|return|>', '<|call|>'].map(word),
  ...['<|END_OF_TURN_TOKEN|>', '<|action_end|>', '<|endoftext|>', '<|observation|>', '<seed:eos>'].map(word),
  special('<｜end▁of▁sentence｜>'),
];

/** Tokens that are hidden wherever they are not protected. */
export const framingTokens: readonly Pattern[] = [
  ...['<|START_RESPONSE|>', '<|END_RESPONSE|>', '<|START_TEXT|>', '<|END_TEXT|>'].map(word),
];

/** Tokens that end a harmony message. */
export const messageEnd: Pattern = anyOf(...['<|end|>', '<|return|>', '<|call|>'].map(word));

/** The closing tag of one call, or of a wrapper around calls, under any of its prefixes. */
const closingTags = sequence(
  word('</'),
  anyOf(
    ...['tool_call>', 'tool_calls>', 'function>', 'function_call>', 'function_calls>', 'invoke>'].map(word),
    ...['minimax:tool_call>', 'seed:tool_call>'].map(word),
    sequence(dsml, anyOf(...['invoke', 'function_calls', 'tool_calls', 'tool_use', 'calls'].map(word)), word('>')),
    sequence(namespace, anyOf(word('invoke>'), word('function_calls>'))),
  ),
);

/** What closes a call or the calls of a message, in any format; hidden behind a block and at the end of a message. */
export const callClosers: readonly Pattern[] = [
  closingTags,
  ...['<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>'].map(special),
  ...['<｜tool▁calls▁section▁end｜>', '<｜tool▁call▁section▁end｜>'].map(special),
  ...['<|python_end|>', '<|END_ACTION|>', '<|action_end|>'].map(word),
];

/** The tokens that end a turn, to be looked for. */
export const endsOfTurn = new Alternatives(endOfTurnTokens.map((pattern) => ({ pattern })));

/** These, and what closes a call. */
export const endsOfTurnOrCall = new Alternatives([...endOfTurnTokens, ...callClosers].map((pattern) => ({ pattern })));

/** The closing tag with this name and prefix. */
export function closingTag(prefix: Pattern | undefined, name: string): Pattern {
  return sequence(word('</'), ...(prefix ? [prefix] : []), word(name), optional(word(' ')), word('>'));
}
