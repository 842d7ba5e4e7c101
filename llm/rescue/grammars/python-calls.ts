import { arrive, type Cursor, isNameUnit, NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { readLiteral } from '../literals.ts';
import type { Tools } from '../tools.ts';

/** A call in Python's form: `NAME(key=value, …)`. */
export interface PythonCall {
  readonly name: string;
  /** Undefined when a value stands without its name. */
  readonly input: Record<string, unknown> | undefined;
}

/** What was read; `cut` = the text ended in it, `no` = it is no list of calls. */
export interface PythonCalls {
  readonly state: 'whole' | 'cut' | 'no';
  readonly calls: readonly PythonCall[];
  /** The first name, once its bracket was there. */
  readonly first: string | undefined;
}

const [OPEN, CLOSE, LIST, LIST_END, COMMA, EQUALS] = [0x28, 0x29, 0x5b, 0x5d, 0x2c, 0x3d];

/** Reads a list of calls, or a single one without brackets. The first name must be an offered tool's; in a `bare` list every one. */
export function* readPythonCalls(cursor: Cursor, tools: Tools, bare: boolean): Parse<PythonCalls> {
  const calls: PythonCall[] = [];
  let first: string | undefined;
  const ending = (state: PythonCalls['state']) => ({ state, calls, first });
  const inList = (yield* nextSolid(cursor)) === LIST;
  if (inList) cursor.position += 1;
  for (;;) {
    const unit = yield* nextSolid(cursor);
    if (unit === NOTHING) return ending('cut');
    if (inList && unit === LIST_END && calls.length > 0) break;
    const said = yield* readCallName(cursor, bare ? tools : undefined);
    if (said === '') return ending('no');
    const name = bare ? said : said.replace(/\.call$/, '');
    const judged = bare || calls.length === 0;
    const behind = yield* nextSolid(cursor);
    if (behind === NOTHING) return ending(judged && !tools.mayBecome(name) ? 'no' : 'cut');
    if (behind !== OPEN || (judged && tools.resolve(name) === undefined)) return ending('no');
    first ??= name;
    const call = yield* readArgumentList(cursor, name);
    if (typeof call === 'string') return ending(call);
    calls.push(call);
    if (!inList) return ending('whole');
    const separator = yield* nextSolid(cursor);
    if (separator === NOTHING) return ending('cut');
    if (separator === COMMA) cursor.position += 1;
    else if (separator !== LIST_END) return ending('no');
  }
  cursor.position += 1;
  return ending('whole');
}

/** Reads a name; with `tools` only as far as it may become one of theirs, so that other text is not held. */
function* readCallName(cursor: Cursor, tools: Tools | undefined): Parse<string> {
  const from = cursor.position;
  while ((yield* arrive(cursor)) && isNameUnit(cursor.code(cursor.position))) {
    cursor.position += 1;
    if (tools && !tools.mayBecome(cursor.slice(from, cursor.position))) return '';
  }
  return cursor.slice(from, cursor.position);
}

function* readArgumentList(cursor: Cursor, name: string): Parse<PythonCall | 'cut' | 'no'> {
  const input: [string, unknown][] = [];
  let positional = false;
  cursor.position += 1;
  for (;;) {
    const unit = yield* nextSolid(cursor);
    if (unit === NOTHING) return 'cut';
    if (unit === CLOSE) break;
    const key = yield* readKey(cursor);
    const value = yield* readLiteral(cursor, 'python');
    if (value.state !== 'whole') return value.state === 'cut' ? 'cut' : 'no';
    if (key !== '') input.push([key, value.value]);
    else positional = true;
    const separator = yield* nextSolid(cursor);
    if (separator === NOTHING) return 'cut';
    if (separator === COMMA) cursor.position += 1;
    else if (separator !== CLOSE) return 'no';
  }
  cursor.position += 1;
  return { name, input: positional ? undefined : Object.fromEntries(input) };
}

/** Reads `key=`; `''` where a value stands alone, and the cursor stays. */
function* readKey(cursor: Cursor): Parse<string> {
  const at = cursor.position;
  const key = yield* readCallName(cursor, undefined);
  if (key !== '' && (yield* nextSolid(cursor)) === EQUALS) {
    cursor.position += 1;
    return key;
  }
  if (cursor.code(cursor.position) !== NOTHING) cursor.position = at;
  return '';
}
