import type { Block } from '../block.ts';
import { endsOfTurnOrCall } from '../control-tokens.ts';
import { arrive, NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { takeCalls } from '../json-units.ts';
import { BareObjects } from './bare-objects.ts';
import { readPythonCalls } from './python-calls.ts';

const [OPEN, CLOSE, LIST_END, COMMA, SEMICOLON] = [0x7b, 0x7d, 0x5d, 0x2c, 0x3b];

/**
 * A call without markers (llama, xlam, pythonic): only as the whole message, with known names and no other keys than a call has. False as
 * soon as the message can be none.
 */
export function* readBare(block: Block): Parse<boolean> {
  const { cursor } = block;
  const start = cursor.position;
  if ((yield* nextSolid(cursor)) === OPEN) return yield* readRow(block);
  cursor.position += 1;
  const first = yield* nextSolid(cursor);
  if (first === OPEN) return yield* readList(block);
  cursor.position = start;
  return first !== NOTHING && (yield* readPython(block));
}

function* readPython(block: Block): Parse<boolean> {
  block.format = 'pythonic';
  const { state, calls, first } = yield* readPythonCalls(block.cursor, block.tools, true);
  if (state === 'no' || (state === 'cut' && first === undefined)) return false;
  if (state === 'cut') block.cut(first);
  else if (!(yield* endsHere(block))) return false;
  else for (const { name, input } of calls) block.take(name, input ?? []);
  return true;
}

/** Objects one behind the other, with `;` or white space between them. */
function* readRow(block: Block): Parse<boolean> {
  const { cursor } = block;
  const objects = new BareObjects(cursor, block.tools);
  for (;;) {
    const state = yield* objects.read();
    if (state === 'no' || (state === 'cut' && objects.name === undefined)) return false;
    if (state === 'cut') {
      takeCalls(block, objects.values);
      block.cut(objects.name);
      return true;
    }
    while ((yield* nextSolid(cursor)) === SEMICOLON || cursor.code(cursor.position) === CLOSE) cursor.position += 1;
    if (cursor.code(cursor.position) === OPEN) continue;
    if (!(yield* endsHere(block))) return false;
    takeCalls(block, objects.values);
    return true;
  }
}

/** A list of objects. While it is not complete, none of them counts. */
function* readList(block: Block): Parse<boolean> {
  const { cursor } = block;
  block.format = 'xlam';
  const objects = new BareObjects(cursor, block.tools);
  for (;;) {
    let state = yield* objects.read();
    const behind = state === 'whole' ? yield* nextSolid(cursor) : NOTHING;
    if (state === 'whole' && behind === COMMA) {
      cursor.position += 1;
      const next = yield* nextSolid(cursor);
      if (next === OPEN) continue;
      if (next !== LIST_END && next !== NOTHING) return false;
    } else if (state === 'whole' && behind !== LIST_END && behind !== NOTHING) return false;
    if (cursor.code(cursor.position) === NOTHING) state = state === 'no' ? 'no' : 'cut';
    if (state === 'no' || (state === 'cut' && objects.name === undefined)) return false;
    if (state === 'cut') {
      block.cut(objects.name);
      return true;
    }
    cursor.position += 1;
    if (!(yield* endsHere(block))) return false;
    takeCalls(block, objects.values);
    return true;
  }
}

/** Whether nothing but white space, closers and end-of-turn tokens is left, which are then passed. */
function* endsHere({ cursor }: Block): Parse<boolean> {
  while ((yield* nextSolid(cursor)) !== NOTHING) {
    const token = yield* endsOfTurnOrCall.match(cursor, cursor.position);
    if ('cut' in token && token.cut.length === 0) return false;
    cursor.position = 'cut' in token ? cursor.end : token.end;
  }
  return !(yield* arrive(cursor));
}
