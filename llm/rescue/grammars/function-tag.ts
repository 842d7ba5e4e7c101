import type { Block } from '../block.ts';
import { closingTag } from '../control-tokens.ts';
import { arrive, type Cursor, NOTHING, nextSolid, type Parse, readName } from '../cursor.ts';
import { passCloser, readArguments } from '../json-units.ts';
import { anyOf, MORE, match, word } from '../patterns.ts';
import { readValue, trimNewlines, typedValue } from '../tag-values.ts';
import type { Grammar } from './grammar.ts';

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
export function* readFunctions(block: Block, format: string): Parse<boolean> {
  const { cursor } = block;
  block.format = format;
  for (let count = 0; ; count += 1) {
    const before = cursor.position;
    if ((yield* nextSolid(cursor)) === NOTHING) {
      if (count === 0) block.cut();
      else cursor.position = before;
      return true;
    }
    const opened = yield* match(cursor, open);
    if (opened === MORE && (count === 0 || cursor.end - cursor.position > 1)) {
      block.cut();
      return true;
    }
    const at = cursor.position;
    if (opened >= 0) {
      cursor.position = opened;
      if (yield* readFunction(block, true)) continue;
      cursor.position = at;
    }
    if (count > 0) cursor.position = before;
    return count > 0;
  }
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
  yield* readParameters(block, name);
  return true;
}

function* readParameters(block: Block, name: string): Parse<void> {
  const { cursor, tools } = block;
  const tool = tools.resolve(name) ?? name;
  const input: [string, unknown][] = [];
  for (;;) {
    if ((yield* nextSolid(cursor)) === NOTHING) return block.cut(name);
    const closed = yield* match(cursor, close);
    if (closed >= 0) {
      cursor.position = closed;
      return block.take(name, Object.fromEntries(input));
    }
    const opened = yield* match(cursor, parameter);
    if (closed === MORE || opened === MORE) return block.cut(name);
    if (opened < 0) return yield* block.dropTo(close, name);
    cursor.position = opened;
    const key = yield* readKey(cursor);
    if (key === undefined) {
      if (cursor.position === cursor.end) return block.cut(name);
      return yield* block.dropTo(close, name);
    }
    const raw = yield* readValue(cursor, parameterTags);
    if (raw === undefined) return block.cut(name);
    input.push([key, typedValue(trimNewlines(raw, 'each'), tools.typesOf(tool, key))]);
  }
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
