import { arrive, type Cursor, isSpace, isWord, NOTHING, nextSolid, type Parse } from '../cursor.ts';

/** The rest of a tag behind its name; `cut` = the text ended in it, with what was read so far. */
interface Attributes {
  readonly state: 'whole' | 'bad' | 'cut';
  readonly values: Readonly<Record<string, string>>;
}

const [GREATER, LESS, EQUALS, NEWLINE] = [0x3e, 0x3c, 0x3d, 0x0a];

/** Reads attributes up to the tag's `>`, behind which the cursor then stands. Quotes are double, single or none. */
export function* readAttributes(cursor: Cursor): Parse<Attributes> {
  const values: Record<string, string> = {};
  for (;;) {
    const first = yield* nextSolid(cursor);
    if (first === NOTHING) return { state: 'cut', values };
    if (first === GREATER) {
      cursor.position += 1;
      return { state: 'whole', values };
    }
    const key = yield* readWhile(cursor, isWord);
    const equals = cursor.code(cursor.position);
    if (equals === NOTHING) return { state: 'cut', values };
    if (key === '' || equals !== EQUALS) return { state: 'bad', values };
    cursor.position += 1;
    if (!(yield* arrive(cursor))) return { state: 'cut', values };
    const quote = cursor.code(cursor.position);
    const quoted = quote === 0x22 || quote === 0x27;
    if (quoted) cursor.position += 1;
    values[key] = yield* readWhile(cursor, (code) => (quoted ? code !== quote && !breaks(code) : isBare(code)));
    const end = cursor.code(cursor.position);
    if (end === NOTHING) return { state: 'cut', values };
    if (quoted && end !== quote) return { state: 'bad', values };
    if (quoted) cursor.position += 1;
  }
}

function* readWhile(cursor: Cursor, isOne: (code: number) => boolean): Parse<string> {
  const from = cursor.position;
  while ((yield* arrive(cursor)) && isOne(cursor.code(cursor.position))) cursor.position += 1;
  return cursor.slice(from, cursor.position);
}

function breaks(code: number): boolean {
  return code === LESS || code === GREATER || code === NEWLINE;
}

function isBare(code: number): boolean {
  return !isSpace(code) && !breaks(code);
}
