import { createHash } from 'node:crypto';
import type { Dialect } from './dialect.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Longest id that OpenAI's own endpoint takes. */
const LONGEST = 40;

/** The id of a call as a dialect takes it. The same id always becomes the same, so that call and result still meet. */
export function callIdIn(form: Dialect['callIds'], id: string): string {
  if (form === 'nine') return /^[A-Za-z0-9]{9}$/.test(id) ? id : digest(id, 9);
  if (form === 'plain' && (!/^[\w-]+$/.test(id) || id.length > LONGEST)) {
    // two ids must not become one
    return `${id.replaceAll(/[^\w-]/g, '_').slice(0, LONGEST - 9)}_${digest(id, 8)}`;
  }
  return id;
}

function digest(id: string, length: number): string {
  const bytes = createHash('sha256').update(id).digest();
  return [...bytes.subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join('');
}
