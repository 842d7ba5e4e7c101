import { Cursor } from './cursor.ts';
import { readLiteral } from './literals.ts';

/** The value that a whole text is, with the tolerance of rescue (raw control characters, trailing commas); undefined when it is none. */
export function parseTolerant(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parseSlips(text);
  }
}

function parseSlips(text: string): unknown {
  const cursor = new Cursor();
  cursor.push(text.trim());
  cursor.close();
  const read = readLiteral(cursor, 'json').next();
  const { value } = read;
  return value?.state === 'whole' && cursor.position === cursor.end ? value.value : undefined;
}
