import { isWord, NOTHING, nextSolid, readName } from '../cursor.ts';
import { hasJsonHead, readArguments, readJsonUnits } from '../json-units.ts';
import { MORE, match, repeat, sequence, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';

const callId = sequence(word('[CALL_ID]'), repeat(isWord, 1, 64));
const marker = word('[ARGS]');
const [OPEN, LIST] = [0x7b, 0x5b];

/** Mistral: `[TOOL_CALLS]` with a list, or with a name, perhaps an id, and the arguments. The format has no closer. */
export const mistral: Grammar = {
  format: 'mistral-v11',
  opener: word('[TOOL_CALLS]'),
  *read(block) {
    const { cursor } = block;
    const first = yield* nextSolid(cursor);
    if (first === NOTHING) {
      block.cut();
      return true;
    }
    if (first === OPEN || first === LIST) {
      block.format = 'mistral-v3';
      if (!(yield* hasJsonHead(cursor))) return false;
      yield* readJsonUnits(block, nothing);
      return true;
    }
    const name = yield* readName(cursor);
    if (name === '') return false;
    const mayEnd = cursor.position;
    for (const part of [callId, marker]) {
      yield* nextSolid(cursor);
      const end = yield* match(cursor, part);
      if (end === MORE) {
        block.cut(cursor.position > mayEnd || cursor.end > mayEnd ? name : undefined);
        return true;
      }
      if (end < 0) continue;
      cursor.position = end;
      block.format = part === marker ? 'mistral-v13' : block.format;
    }
    const brace = yield* nextSolid(cursor);
    if (brace !== OPEN && brace !== NOTHING) return false;
    yield* readArguments(block, name, nothing);
    return true;
  },
};

const nothing = () => -1;
