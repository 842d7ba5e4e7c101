import { v7 as uuidv7 } from 'uuid';
import { type Frame, parseTarget } from '../protocol/index.ts';
import type { Decoded } from './decode.ts';
import type { OutgoingMessage } from './turn.ts';

/** What the hub changes in a message before it is logged. */
export interface Stamp {
  readonly type?: string;
  readonly to?: string;
  readonly box?: string | null;
  readonly payload?: unknown;
  readonly attempt?: number;
  /** Id of the frame that this one answers, when its sender left that out. */
  readonly ref?: string;
}

/**
 * Types that the hub hands on without acting upon their payload. In all others a key that comes twice could tell a reader
 * something else than the hub went by, so their payload is written anew.
 */
const carried: ReadonlySet<string> = new Set(['route', 'task.event']);

/** The row of a frame: the five fields first, `from` true, an id for sure, and no key that is the hub's to set. */
export function rowOf(sender: string, decoded: Decoded, stamp: Stamp): OutgoingMessage {
  const { frame } = decoded;
  const type = stamp.type ?? frame.type;
  const to = stamp.to ?? targetOf(frame);
  const attempt = stamp.attempt ?? frame.attempt;
  const id = frame.id ?? uuidv7();
  const box = stamp.box ?? null;
  const same =
    carried.has(type) &&
    type === frame.type &&
    to === frame.to &&
    attempt === frame.attempt &&
    !('payload' in stamp) &&
    !('ref' in stamp);
  const asItCame = same && frame.from === sender ? decoded.bytes : undefined;
  const body =
    asItCame === undefined
      ? Buffer.from(rewritten(sender, decoded, { ...stamp, type, to }, id))
      : frame.id === undefined
        ? withId(asItCame, id)
        : asItCame;
  return { type, from: sender, to, box, taskId: frame.task_id, id, attempt: attempt ?? null, body, lsn: 0, ts: 0 };
}

/** What is about a task is said to the hub, whatever nonsense stands there: the log is searched for names, which have no escapes. */
function targetOf({ type, to }: Frame): string {
  return type === 'route' || to === 'hub' || parseTarget(to) !== undefined ? to : 'hub';
}

/** The id goes before the closing brace; a frame that is stored as it came has keys before it. */
function withId(bytes: Buffer, id: string): Buffer {
  const key = `,"id":"${id}"}`;
  const body = Buffer.allocUnsafe(bytes.length - 1 + key.length);
  bytes.copy(body, 0, 0, bytes.length - 1);
  body.write(key, bytes.length - 1, 'latin1');
  return body;
}

function rewritten(sender: string, { frame, raw }: Decoded, stamp: Stamp, id: string): string {
  const { seq, prev, lsn, ts, redelivered, ...rest } = raw;
  const ref = stamp.ref === undefined ? {} : { ref: stamp.ref };
  const payload = 'payload' in stamp ? stamp.payload : raw.payload;
  const attempt = stamp.attempt ?? frame.attempt;
  const five = { type: stamp.type, from: sender, to: stamp.to, task_id: frame.task_id, payload: payload ?? null };
  const claimed =
    frame.from !== '' && frame.from !== sender ? { meta: { ...frame.meta, claimed_from: frame.from } } : {};
  return JSON.stringify({
    ...five,
    ...rest,
    ...five,
    id,
    ...ref,
    ...(attempt !== undefined && { attempt }),
    ...claimed,
  });
}
