import type { Block } from '../block.ts';
import { closingTag } from '../control-tokens.ts';
import { type Cursor, isSpace, NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { passCloser, readArguments } from '../json-units.ts';
import { anyOf, dsml, match, namespace, type Pattern, repeat, sequence, word } from '../patterns.ts';
import { jsonOf, readValue, trimNewlines, typedValue } from '../tag-values.ts';
import { readAttributes } from './attributes.ts';
import type { Grammar } from './grammar.ts';
import { type Parameter, readParameters, readUnits } from './tag-units.ts';

const gap = repeat(isSpace, 1, 8);
const [LESS, OPEN] = [0x3c, 0x7b];

/** `<invoke name=`, with any prefix. */
const open = anyOf(...tagStarts('invoke', word('name=')));
const openParameter = anyOf(...tagStarts('parameter', word('')));

/** minimax-m2, anthropic and DSML: one or several `<invoke>` in a wrapper. */
export const invokeWrappers: readonly Grammar[] = [
  wrapper('minimax-m2', word('<minimax:tool_call>')),
  wrapper(
    'anthropic',
    sequence(word('<'), anyOf(word('function_calls>'), sequence(namespace, word('function_calls>')))),
  ),
  wrapper(
    'deepseek-v3.2',
    sequence(word('<'), dsml, anyOf(...['function_calls', 'tool_calls', 'tool_use', 'calls'].map(word)), word('>')),
  ),
];

/** `<invoke>` without a wrapper, by prefix. Only an offered name makes it a call, unless its tag is DSML. */
export const invokeTags: readonly Grammar[] = tagStarts('invoke', word('name=')).map((opener) => ({
  format: 'anthropic',
  opener,
  cut: isCutTag,
  *read(block) {
    block.cursor.position = block.start;
    return yield* readInvoke(block, false);
  },
}));

/** `<button` may become a namespace, and `<` with spaces a DSML tag; neither is a call that was cut. */
function isCutTag(text: string): boolean {
  if (text.length < 6) return false;
  if (/^<\w*$/.test(text)) return ['<invoke', '<function_calls', '<antml'].some((tag) => tag.startsWith(text));
  return /^<(antml:|\w+:(inv|fun)|invoke\b|\W*D)/.test(text);
}

/** Invokes inside a wrapper. False when there is none. */
export function readInvokes(block: Block, format: string): Parse<boolean> {
  block.format = format;
  return readUnits(block, open, () => readInvoke(block, true));
}

/** One invoke, at whose `<` the cursor stands. False when its head does not fit. */
export function* readInvoke(block: Block, wrapped: boolean): Parse<boolean> {
  const { cursor, tools } = block;
  const prefix = yield* readPrefix(cursor, 'invoke');
  if (prefix.isDsml) block.format = 'deepseek-v3.2';
  const close = closingTag(prefix.pattern, 'invoke');
  const vouched = wrapped || prefix.isDsml;
  const tag = yield* readAttributes(cursor);
  const { name = '' } = tag.values;
  if (tag.state === 'cut') {
    if (!vouched && !tools.mayBecome(name)) return false;
    block.cut(tools.resolve(name));
    return true;
  }
  if (tag.state === 'bad' || name === '' || (!vouched && tools.resolve(name) === undefined)) return false;
  const first = yield* nextSolid(cursor);
  if (first === OPEN) {
    yield* readArguments(block, name, close);
    yield* passCloser(cursor, close);
    return true;
  }
  if (first !== LESS && first !== NOTHING) return false;
  const tool = tools.resolve(name) ?? name;
  yield* readParameters(block, name, { open: openParameter, close, readOne: () => readParameter(block, tool, close) });
  return true;
}

/** One parameter, at whose `<` the cursor stands; `close` ends its invoke. */
function* readParameter({ cursor, tools }: Block, tool: string, close: Pattern): Parse<Parameter> {
  const prefix = yield* readPrefix(cursor, 'parameter');
  const tag = yield* readAttributes(cursor);
  if (tag.state === 'cut') return 'cut';
  const key = tag.values.name;
  if (tag.state === 'bad' || key === undefined) return 'bad';
  const ownOpener = sequence(word('<'), prefix.pattern, word('parameter'), gap);
  const next = anyOf(openParameter, close);
  const raw = yield* readValue(cursor, { open: ownOpener, close: closingTag(prefix.pattern, 'parameter'), next });
  return raw === undefined ? 'cut' : [key, parameterValue(raw, tag.values.string, tools.typesOf(tool, key))];
}

/** The attribute `string` of DSML beats the schema. */
function parameterValue(raw: string, isString: string | undefined, types: readonly string[] | undefined): unknown {
  if (isString === 'true') return raw;
  const text = trimNewlines(raw, 'both');
  if (isString !== 'false') return typedValue(text, types);
  const value = jsonOf(text);
  return value === undefined ? text : value;
}

/** Moves from a tag's `<` behind its name; tells its prefix, which its closer has too. */
function* readPrefix(cursor: Cursor, name: string): Parse<{ pattern: Pattern; isDsml: boolean }> {
  const from = cursor.position + 1;
  for (const pattern of [word(''), dsml, namespace]) {
    const end = yield* match(cursor, sequence(pattern, word(name)), from);
    if (end < 0) continue;
    cursor.position = end;
    const isDsml = pattern === dsml;
    return { pattern: isDsml ? dsml : word(cursor.slice(from, end - name.length)), isDsml };
  }
  return { pattern: word(''), isDsml: false };
}

function tagStarts(name: string, attribute: Pattern): Pattern[] {
  return [word(''), dsml, namespace].map((prefix) => sequence(word('<'), prefix, word(name), gap, attribute));
}

function wrapper(format: string, opener: Pattern): Grammar {
  return {
    format,
    opener,
    ...(format === 'minimax-m2' ? {} : { cut: isCutTag }),
    read: (block) => readInvokes(block, format),
  };
}
