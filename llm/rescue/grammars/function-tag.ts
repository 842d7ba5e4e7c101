import type { Block } from '../block.ts';
import { closingTag } from '../control-tokens.ts';
import { arrive, type Cursor, NOTHING, nextSolid, type Parse, readName } from '../cursor.ts';
import { passCloser, readArguments } from '../json-units.ts';
import { anyOf, word } from '../patterns.ts';
import { readValue, trimNewlines, typedValue } from '../tag-values.ts';
import type { Grammar } from './grammar.ts';
import { type Parameter, readParameters, readUnits } from './tag-units.ts';

const open = word('<function=');
const close = closingTag(undefined, 'function');
const parameter = word('<parameter=');
const closeParameter = closingTag(undefined, 'parameter');
const parameterTags = { open: parameter, close: closeParameter, next: anyOf(parameter, close) };
const [LESS, OPEN, GREATER, NEWLINE] = [0x3c, 0x7b, 0x3e, 0x0a];

/** qwen3-coder and functionary v3.1 without a wrapper: `<function=NAME>`. Only an offered name makes it a call. */
export const functionTag: Grammar = {
  format: 'qwen3-coder',
  opener: open,
  read: (block) => readFunction(block, false),
};

/** seed-oss: functions in a wrapper of its own. */
export const seed: Grammar = {
  format: 'seed-oss',
  opener: word('<seed:tool_call>'),
  read: (block) => readFunctions(block, 'seed-oss'),
};

/** Functions inside a wrapper, one or several. False when there is none. */
export function readFunctions(block: Block, format: string): Parse<boolean> {
  block.format = format;
  return readUnits(block, open, function* (opened) {
    block.cursor.position = opened;
    return yield* readFunction(block, true);
  });
}

/** One function, whose opener was passed. False when its head does not fit. `wrapped` = an unknown name is dropped, not text. */
function* readFunction(block: Block, wrapped: boolean): Parse<boolean> {
  const { cursor, tools } = block;
  const name = yield* readName(cursor);
  const behind = cursor.code(cursor.position);
  if (behind === NOTHING) {
    if (!wrapped && !tools.mayBecome(name)) return false;
    block.cut(tools.resolve(name));
    return true;
  }
  if (behind !== GREATER || name === '') return false;
  if (!wrapped && tools.resolve(name) === undefined) return false;
  cursor.position += 1;
  const first = yield* nextSolid(cursor);
  if (first === OPEN) {
    block.format = 'functionary';
    yield* readArguments(block, name, close);
    yield* passCloser(cursor, close);
    return true;
  }
  if (first !== LESS && first !== NOTHING) return false;
  const tool = tools.resolve(name) ?? name;
  yield* readParameters(block, name, { open: parameter, close, readOne: (at) => readParameter(block, tool, at) });
  return true;
}

/** One parameter, whose opener ends at `opened`. */
function* readParameter({ cursor, tools }: Block, tool: string, opened: number): Parse<Parameter> {
  cursor.position = opened;
  const key = yield* readKey(cursor);
  if (key === undefined) return cursor.position === cursor.end ? 'cut' : 'bad';
  const raw = yield* readValue(cursor, parameterTags);
  return raw === undefined ? 'cut' : [key, typedValue(trimNewlines(raw, 'each'), tools.typesOf(tool, key))];
}

/** Reads the rest of a tag, which is a parameter's name; undefined when the tag does not end on its line. */
function* readKey(cursor: Cursor): Parse<string | undefined> {
  const from = cursor.position;
  for (; yield* arrive(cursor); cursor.position += 1) {
    const code = cursor.code(cursor.position);
    if (code === LESS || code === NEWLINE) return undefined;
    if (code !== GREATER) continue;
    cursor.position += 1;
    return cursor.slice(from, cursor.position - 1).trim();
  }
  return undefined;
}
