import { hasJsonHead, readJsonUnits } from '../json-units.ts';
import { word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';

/** phi-4 and firefunction: `functools[…]` at the start of a line. */
export const functools: Grammar = {
  format: 'phi-4',
  opener: word('functools['),
  at: 'line',
  *read(block) {
    block.cursor.position -= 1;
    if (!(yield* hasJsonHead(block.cursor))) return false;
    yield* readJsonUnits(block, nothing);
    return true;
  },
};

/** The format has no closer. */
const nothing = () => -1;
