import { isSpace } from '../cursor.ts';
import { hasJsonHead, readJsonUnits } from '../json-units.ts';
import { repeat, sequence, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';

/** Formats that are a token and JSON behind it: granite, internlm, cohere, phi-4. One more is one more row. */
export const jsonTokens: readonly Grammar[] = [
  row('granite', word('<|tool_call|>'), word('</tool_call>')),
  row('granite-20b', word('<function_call>'), word('</function_call>')),
  row(
    'internlm',
    sequence(word('<|action_start|>'), repeat(isSpace, 0, 4), word('<|plugin|>')),
    word('<|action_end|>'),
  ),
  row('cohere', word('<|START_ACTION|>'), word('<|END_ACTION|>')),
];

function row(format: string, opener: Grammar['opener'], closer: Grammar['opener']): Grammar {
  return {
    format,
    opener,
    *read(block) {
      if (!(yield* hasJsonHead(block.cursor))) return false;
      yield* readJsonUnits(block, closer);
      return true;
    },
  };
}
