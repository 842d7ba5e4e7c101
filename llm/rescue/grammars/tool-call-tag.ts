import type { Block } from '../block.ts';
import { NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { hasJsonHead, readJsonUnits } from '../json-units.ts';
import { word } from '../patterns.ts';
import { readFunctions } from './function-tag.ts';
import { readGlm } from './glm.ts';
import type { Grammar } from './grammar.ts';
import { readInvokes } from './invoke.ts';

const close = word('</tool_call>');
const [LESS, OPEN, LIST, NEWLINE] = [0x3c, 0x7b, 0x5b, 0x0a];

/** `<tool_call>`, shared by hermes, qwen3-coder, glm, granite, xlam and others: what follows it decides. */
export const toolCallTag: Grammar = {
  format: 'hermes',
  opener: word('<tool_call>'),
  *read(block) {
    const { cursor } = block;
    const behind = cursor.position;
    const first = yield* nextSolid(cursor);
    if (first === NOTHING) block.cut();
    else if (first === OPEN || first === LIST) return yield* readJson(block);
    else if (first === LESS)
      return (yield* readFunctions(block, 'qwen3-coder')) || (yield* readInvokes(block, 'anthropic'));
    else return lines(block, behind) <= 1 && (yield* readGlm(block));
    return true;
  },
};

function* readJson(block: Block): Parse<boolean> {
  if (!(yield* hasJsonHead(block.cursor))) return false;
  yield* readJsonUnits(block, close);
  return true;
}

/** A name stands on the opener's line or on the next. */
function lines({ cursor }: Block, from: number): number {
  let count = 0;
  for (let at = from; at < cursor.position; at += 1) if (cursor.code(at) === NEWLINE) count += 1;
  return count;
}
