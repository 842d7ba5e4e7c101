import type { Block } from '../block.ts';
import { isWord, NOTHING, nextSolid, type Parse, readName } from '../cursor.ts';
import { passCloser, readArguments } from '../json-units.ts';
import { anyOf, MORE, match, repeat, sequence, special, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';
import { readInvoke } from './invoke.ts';

const wrapper = anyOf(
  ...['<｜tool▁calls▁begin｜>', '<｜tool▁calls｜>'].map(special),
  ...['<｜tool▁calls▁section▁begin｜>', '<｜tool▁call▁section▁begin｜>'].map(special),
);
const begin = special('<｜tool▁call▁begin｜>');
const separator = special('<｜tool▁sep｜>');
const kimiSeparator = special('<｜tool▁call▁argument▁begin｜>');
const close = anyOf(
  ...['<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>'].map(special),
  ...['<｜tool▁calls▁section▁end｜>', '<｜tool▁call▁section▁end｜>'].map(special),
);
const fence = sequence(word('```'), repeat(isWord, 0, 12));
const [LESS, OPEN] = [0x3c, 0x7b];

/**
 * Kimi, DeepSeek and Step3: a begin token, a name, a separator. A wrapper around the calls may be missing, so each begin token is a
 * block of its own; so may the first begin token behind a wrapper.
 */
export const callBegin: Grammar = {
  format: 'deepseek-v3.1',
  opener: anyOf(wrapper, begin),
  *read(block) {
    const { cursor } = block;
    if ((yield* nextSolid(cursor)) === NOTHING) return cut(block);
    const begun = yield* match(cursor, begin);
    if (begun === MORE) return cut(block);
    if (begun >= 0) {
      cursor.position = begun;
      if ((yield* nextSolid(cursor)) === NOTHING) return cut(block);
    }
    const name = yield* readName(cursor);
    if (name === '') return false;
    if ((yield* nextSolid(cursor)) === NOTHING) return cut(block);
    const at = cursor.position;
    const kimi = yield* match(cursor, kimiSeparator);
    const other = yield* match(cursor, separator);
    if (kimi === MORE || other === MORE) return cut(block);
    if (kimi < 0 && other < 0) return false;
    cursor.position = Math.max(kimi, other, at);
    if (kimi >= 0) {
      block.format = 'kimi-k2';
      yield* readArguments(block, name.replace(/:\d+$/, ''), close);
    } else if (name === 'function') yield* readTyped(block);
    else yield* readFenced(block, name);
    return true;
  },
};

/** Behind `function` and the separator: a name (DeepSeek V3), an invoke (Step3), or the arguments of a tool called `function`. */
function* readTyped(block: Block): Parse<void> {
  const { cursor } = block;
  const first = yield* nextSolid(cursor);
  if (first === NOTHING) return block.cut();
  if (first === LESS) {
    block.format = 'step3';
    if (!(yield* readInvoke(block, true))) yield* block.dropTo(close);
    return;
  }
  const name = first === OPEN ? 'function' : yield* readName(cursor);
  if (name === '') return yield* block.dropTo(close);
  if (name !== 'function') block.format = 'deepseek-v3';
  return yield* readFenced(block, name);
}

/** Arguments, with or without a fence around them. */
function* readFenced(block: Block, name: string): Parse<void> {
  const { cursor } = block;
  if ((yield* nextSolid(cursor)) === NOTHING) return block.cut(known(block, name));
  const fenced = yield* match(cursor, fence);
  if (fenced === MORE) return block.cut(name);
  if (fenced >= 0) cursor.position = fenced;
  yield* readArguments(block, name, close);
  if (fenced >= 0) yield* passCloser(cursor, word('```'));
}

function cut(block: Block): true {
  block.cut();
  return true;
}

/** A name at which the text ended may be cut itself. */
function known({ tools }: Block, name: string): string | undefined {
  return tools.resolve(name);
}
