import type { Block } from '../block.ts';
import { isSpace, NOTHING, nextSolid, type Parse, pastSpace, readName } from '../cursor.ts';
import { anyOf, MORE, match, word } from '../patterns.ts';
import { readUntil, readValue, trimNewlines, typedValue } from '../tag-values.ts';
import { type Parameter, readParameters } from './tag-units.ts';

const close = word('</tool_call>');
const key = word('<arg_key>');
const closeKey = word('</arg_key>');
const value = word('<arg_value>');
const valueTags = { open: value, close: word('</arg_value>'), next: anyOf(key, close) };

/** The body of GLM's `<tool_call>NAME`, with the cursor on the name. False when it is none. Only `</tool_call>` ends it. */
export function* readGlm(block: Block): Parse<boolean> {
  const { cursor, tools } = block;
  block.format = 'glm';
  const name = yield* readName(cursor);
  if (name === '') return false;
  const known = tools.resolve(name) !== undefined;
  if ((yield* nextSolid(cursor)) === NOTHING) {
    const gap = isSpace(cursor.code(cursor.position - 1));
    if (gap ? !known : !tools.mayBecome(name)) return false;
    block.cut(known ? name : undefined);
    return true;
  }
  const first = yield* match(cursor, key);
  const closed = yield* match(cursor, close);
  if (first === MORE || (closed === MORE && known)) {
    block.cut(name);
    return true;
  }
  if (first < 0 && !(closed >= 0 && known)) return false;
  const tool = tools.resolve(name) ?? name;
  yield* readParameters(block, name, { open: key, close, readOne: (at) => readPair(block, tool, at) });
  return true;
}

/** One pair, the opener of whose key ends at `opened`. */
function* readPair({ cursor, tools }: Block, tool: string, opened: number): Parse<Parameter> {
  cursor.position = opened;
  const argument = (yield* readUntil(cursor, closeKey))?.trim();
  if (argument === undefined) return 'cut';
  // the opener of a value may be missing: its closer still ends it
  const at = yield* pastSpace(cursor);
  const started = yield* match(cursor, value, at);
  if (started >= 0) cursor.position = started;
  const raw = yield* readValue(cursor, valueTags);
  return raw === undefined ? 'cut' : [argument, typedValue(trimNewlines(raw, 'both'), tools.typesOf(tool, argument))];
}
