import type { Block } from '../block.ts';
import { NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { hasJsonHead, readJsonUnits } from '../json-units.ts';
import { word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';
import { readInvokes } from './invoke.ts';

const close = word('</tool_calls>');
const [LESS, OPEN, LIST] = [0x3c, 0x7b, 0x5b];

/** `<tool_calls>`: a row of objects (minimax-m1), a list (hunyuan, jamba) or invokes. */
export const toolCallsTag: Grammar = {
  format: 'minimax-m1',
  opener: word('<tool_calls>'),
  *read(block) {
    const { cursor } = block;
    const first = yield* nextSolid(cursor);
    if (first === NOTHING) {
      block.cut();
      return true;
    }
    if (first === LESS) return yield* readInvokes(block, 'anthropic');
    if (first === LIST) block.format = 'hunyuan';
    return (yield* hasJsonHead(cursor)) && (yield* readRow(block));
  },
};

/** Objects one behind the other. What follows the last one is no part of the block. */
function* readRow(block: Block): Parse<boolean> {
  const { cursor } = block;
  for (;;) {
    if (!(yield* readJsonUnits(block, close))) return true;
    const behind = cursor.position;
    if ((yield* nextSolid(cursor)) === OPEN && (yield* hasJsonHead(cursor))) continue;
    cursor.position = behind;
    return true;
  }
}
