import type { Block } from '../block.ts';
import { NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { hasJsonHead, passCloser, readJsonUnits } from '../json-units.ts';
import { anyOf, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';
import { readPythonic } from './pythonic.ts';

const close = anyOf(word('<|eom_id|>'), word('<|eot_id|>'));
const [OPEN, LIST, SEMICOLON] = [0x7b, 0x5b, 0x3b];

/** llama3: JSON or `NAME.call(…)` behind a token; several are separated by `;` or follow one another. */
export const pythonTag: Grammar = {
  format: 'llama3',
  opener: word('<|python_tag|>'),
  *read(block) {
    const { cursor } = block;
    if ((yield* nextSolid(cursor)) === NOTHING) {
      block.cut();
      return true;
    }
    if (!(yield* readOne(block))) return false;
    for (;;) {
      const behind = cursor.position;
      const first = yield* nextSolid(cursor);
      if (first === SEMICOLON) {
        cursor.position += 1;
        yield* nextSolid(cursor);
      }
      const may = first === SEMICOLON || first === OPEN || first === LIST;
      if (may && cursor.code(cursor.position) !== NOTHING && (yield* readOne(block))) continue;
      if (first !== SEMICOLON || cursor.code(cursor.position) !== NOTHING) cursor.position = behind;
      yield* passCloser(cursor, close);
      return true;
    }
  },
};

/** One object, list or call. False when it is none. */
function* readOne(block: Block): Parse<boolean> {
  const { cursor } = block;
  const first = cursor.code(cursor.position);
  const isJson = (first === OPEN || first === LIST) && (yield* hasJsonHead(cursor));
  if (!isJson) return yield* readPythonic(block, close);
  yield* readJsonUnits(block, close);
  return true;
}
