import type { Cursor } from '../cursor.ts';
import { arrive, isSpace, NOTHING, type Parse, readName } from '../cursor.ts';
import { readArguments } from '../json-units.ts';
import { before, NO, type Pattern, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';

const [NEWLINE, OPEN] = [0x0a, 0x7b];
const marker = word('>>>');
const nextMarker = before(marker);

/** The next `>>>` at the start of a line ends a message; it is no part of it. */
const next: Pattern = (cursor, at) => (cursor.code(at - 1) === NEWLINE ? nextMarker(cursor, at) : NO);

/** functionary v3.2: `>>>NAME` and arguments on the next line; `>>>all` before text is hidden. */
export const functionary: Grammar = {
  format: 'functionary',
  opener: marker,
  at: 'line',
  *read(block) {
    const { cursor, tools } = block;
    const name = yield* readName(cursor);
    if (name === 'all' && tools.resolve(name) === undefined) return block.fresh && (yield* passLineEnd(cursor));
    if (tools.resolve(name) === undefined) return false;
    if (cursor.code(cursor.position) !== NOTHING) {
      if (!(yield* passLineEnd(cursor))) return false;
      while ((yield* arrive(cursor)) && isSpace(cursor.code(cursor.position))) cursor.position += 1;
      const first = cursor.code(cursor.position);
      if (first !== OPEN && first !== NOTHING) return false;
    }
    yield* readArguments(block, name, next);
    return true;
  },
};

/** Moves behind the end of the line, if nothing but white space stands before it. */
function* passLineEnd(cursor: Cursor): Parse<boolean> {
  for (; yield* arrive(cursor); cursor.position += 1) {
    const code = cursor.code(cursor.position);
    if (!isSpace(code)) return false;
    if (code !== NEWLINE) continue;
    cursor.position += 1;
    return true;
  }
  return true;
}
