import type { Block } from '../block.ts';
import { NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { type Pattern, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';
import { readPythonCalls } from './python-calls.ts';

/** llama4, olmo and lfm2: a list of calls behind a token. */
export const pythonic: readonly Grammar[] = [
  row('<|python_start|>', '<|python_end|>'),
  row('<|tool_call_start|>', '<|tool_call_end|>'),
];

function row(opener: string, closer: string): Grammar {
  return {
    format: 'pythonic',
    opener: word(opener),
    *read(block) {
      if ((yield* nextSolid(block.cursor)) !== NOTHING) return yield* readPythonic(block, word(closer));
      block.cut();
      return true;
    },
  };
}

/** Reads calls behind a marker that vouches for them. False when they do not begin with the name of an offered tool. */
export function* readPythonic(block: Block, closer: Pattern): Parse<boolean> {
  const { state, calls, first } = yield* readPythonCalls(block.cursor, block.tools, false);
  if (state === 'cut') block.cut(first);
  else if (state === 'no' && first === undefined) return false;
  else if (state === 'no') yield* block.dropTo(closer, first);
  // a value without a name makes the arguments unusable
  else for (const { name, input } of calls) block.take(name, input ?? []);
  return true;
}
