import { v7 as uuidv7 } from 'uuid';
import type { Decoded } from './decode.ts';
import type { LogRow } from './storage.ts';

/** What the hub changes in a message before it is logged. */
export interface Stamp {
  readonly type?: string;
  readonly to?: string;
  readonly box?: string | null;
  readonly payload?: unknown;
  readonly attempt?: number;
}

/** The row of a frame: the five fields first, `from` true, an id for sure, and no key that is the hub's to set. */
export function rowOf(sender: string, decoded: Decoded, stamp: Stamp): LogRow {
  const { frame } = decoded;
  const type = stamp.type ?? frame.type;
  const to = stamp.to ?? frame.to;
  const attempt = stamp.attempt ?? frame.attempt;
  const id = frame.id ?? uuidv7();
  const box = stamp.box ?? null;
  const same = type === frame.type && to === frame.to && attempt === frame.attempt && !('payload' in stamp);
  const text = same ? plainText(sender, decoded) : undefined;
  const body = Buffer.from(text ?? rewritten(sender, decoded, { ...stamp, type, to }, id));
  return { type, from: sender, to, box, taskId: frame.task_id, id, attempt: attempt ?? null, body };
}

/** Keys that are written once in most frames; a second one could mean one thing to the hub and another to a reader. */
const onceKeys = ['"type"', '"from"', '"to"', '"task_id"', '"payload"', '"id"', '"attempt"'];

/** The text when it can be stored and sent on as it came: nothing to change, nothing ambiguous in it. */
function plainText(sender: string, { frame, raw, text }: Decoded): string | undefined {
  if (text === undefined || frame.from !== sender || frame.id === undefined || hasHubKey(raw)) return undefined;
  // A key may also be spelled with an escape; ours are plain ASCII.
  if (!text.endsWith('}') || text.includes('\\u00')) return undefined;
  return onceKeys.some((key) => isTwice(text, key)) ? undefined : text;
}

function isTwice(text: string, key: string): boolean {
  const first = text.indexOf(key);
  return first !== -1 && text.indexOf(key, first + 1) !== -1;
}

const hubKeys = ['seq', 'prev', 'lsn', 'ts', 'redelivered'] as const;

function hasHubKey(raw: Readonly<Record<string, unknown>>): boolean {
  return hubKeys.some((key) => raw[key] !== undefined);
}

function rewritten(sender: string, { frame, raw }: Decoded, stamp: Stamp, id: string): string {
  const { seq, prev, lsn, ts, redelivered, ...rest } = raw;
  const payload = 'payload' in stamp ? stamp.payload : raw.payload;
  const attempt = stamp.attempt ?? frame.attempt;
  const five = { type: stamp.type, from: sender, to: stamp.to, task_id: frame.task_id, payload: payload ?? null };
  const claimed =
    frame.from !== '' && frame.from !== sender ? { meta: { ...frame.meta, claimed_from: frame.from } } : {};
  return JSON.stringify({ ...five, ...rest, ...five, id, ...(attempt !== undefined && { attempt }), ...claimed });
}
