import { isObject } from '../upstream/errors.ts';
import type { Block } from './block.ts';
import { arrive, type Cursor, isSpace, NOTHING, nextSolid, type Parse, pastSpace } from './cursor.ts';
import { readLiteral } from './literals.ts';
import { MORE, match, type Pattern } from './patterns.ts';

/** Keys that an object may begin with to be a call; a bare one has no others. */
export const callKeys = ['name', 'arguments', 'parameters', 'id', 'type', 'function'].concat([
  'tool_name',
  'tool_call_id',
  'index',
]);

const [OPEN, LIST, CLOSE, QUOTE] = [0x7b, 0x5b, 0x7d, 0x22];

/** Whether the text at the cursor, white space apart, begins like a call in JSON, as far as it goes; the cursor moves to its bracket. */
export function* hasJsonHead(cursor: Cursor): Parse<boolean> {
  const first = yield* nextSolid(cursor);
  let at = cursor.position;
  if (first === LIST) at = yield* pastSpace(cursor, at + 1);
  if (!(yield* arrive(cursor, at))) return true;
  if (cursor.code(at) !== OPEN) return false;
  at = yield* pastSpace(cursor, at + 1);
  if (!(yield* arrive(cursor, at))) return true;
  if (cursor.code(at) !== QUOTE) return false;
  for (let key = ''; ; ) {
    at += 1;
    if (!(yield* arrive(cursor, at))) return true;
    const unit = cursor.slice(at, at + 1);
    if (unit === '"') return callKeys.includes(key);
    key += unit;
    if (!callKeys.some((known) => known.startsWith(key))) return false;
  }
}

/** Reads one object, or a list whose elements are units, at the cursor. False when nothing can follow it any more. */
export function* readJsonUnits(block: Block, closer: Pattern): Parse<boolean> {
  const { cursor } = block;
  const literal = yield* readLiteral(cursor, 'json');
  if (literal.state === 'cut') {
    block.cut(nameIn(literal.value));
    return false;
  }
  if (literal.state === 'bad') {
    yield* block.dropTo(closer, nameIn(literal.value));
    return false;
  }
  const { value } = literal;
  for (const unit of Array.isArray(value) ? value : [value]) takeCall(block, unit);
  yield* passBraces(cursor, closer);
  return true;
}

/** Reads the arguments of a call whose name came before; they must be an object. */
export function* readArguments(block: Block, name: string, closer: Pattern): Parse<void> {
  const { cursor } = block;
  const first = yield* nextSolid(cursor);
  if (first === NOTHING) return block.cut(name);
  if (first !== OPEN) return yield* block.dropTo(closer, name);
  const literal = yield* readLiteral(cursor, 'json');
  if (literal.state === 'cut') return block.cut(name);
  if (literal.state === 'bad') return yield* block.dropTo(closer, name);
  block.take(name, literal.value);
  return yield* passBraces(cursor, closer);
}

/** Moves behind the closer of a body, white space before it apart, if it is there; also when the end of the text cuts it off. */
export function* passCloser(cursor: Cursor, closer: Pattern): Parse<void> {
  const behind = cursor.position;
  yield* nextSolid(cursor);
  const end = yield* match(cursor, closer);
  if (end >= 0) cursor.position = end;
  else cursor.position = end === MORE && cursor.position < cursor.end ? cursor.end : behind;
}

/** Extra braces behind an object are left out when its closer, another object or the end of the text follows them. */
function* passBraces(cursor: Cursor, closer: Pattern): Parse<void> {
  const from = cursor.position;
  let [at, behind] = [from, from];
  while (yield* arrive(cursor, at)) {
    const code = cursor.code(at);
    if (code === CLOSE) behind = at + 1;
    else if (!isSpace(code)) break;
    at += 1;
  }
  if (behind === from) return;
  const end = yield* match(cursor, closer, at);
  const ended = !(yield* arrive(cursor, at));
  if (ended || end >= 0 || end === MORE || cursor.code(at) === OPEN) cursor.position = behind;
}

function takeCall(block: Block, value: unknown): void {
  const fields = isObject(value) ? value : {};
  const inner = isObject(fields.function) ? fields.function : {};
  block.take(nameIn(value), fields.arguments ?? fields.parameters ?? inner.arguments ?? inner.parameters);
}

/** The name in an object that is a call. */
export function nameIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const inner = isObject(value.function) ? value.function.name : undefined;
  return [value.name, value.tool_name, inner].find((name) => typeof name === 'string' && name !== '') as
    | string
    | undefined;
}

/** Takes objects that were read one by one. */
export function takeCalls(block: Block, values: readonly unknown[]): void {
  for (const value of values) takeCall(block, value);
}
