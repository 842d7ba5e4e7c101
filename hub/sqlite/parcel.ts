import type { StoredMessage } from '../storage.ts';

/** Messages on their way from one thread to another: their bodies in one piece of memory that changes hands. */
export interface Parcel {
  readonly heads: readonly Head[];
  readonly bodies: ArrayBuffer;
}

type Head = readonly [
  lsn: number,
  ts: number,
  type: string,
  from: string,
  to: string,
  box: string | null,
  taskId: string,
  id: string,
  attempt: number | null,
  length: number,
  damaged: boolean,
];

export function toParcel(messages: readonly StoredMessage[]): Parcel {
  const bytes = new Uint8Array(messages.reduce((sum, { body }) => sum + body.length, 0));
  let at = 0;
  const heads = messages.map(({ lsn, ts, type, from, to, box, taskId, id, attempt, body, damaged }): Head => {
    bytes.set(body, at);
    at += body.length;
    return [lsn, ts, type, from, to, box, taskId, id, attempt, body.length, damaged === true];
  });
  return { heads, bodies: bytes.buffer };
}

export function fromParcel({ heads, bodies }: Parcel): StoredMessage[] {
  let at = 0;
  return heads.map(([lsn, ts, type, from, to, box, taskId, id, attempt, length, damaged]) => {
    const body = Buffer.from(bodies, at, length);
    at += length;
    const message = { lsn, ts, type, from, to, box, taskId, id, attempt, body };
    return damaged ? { ...message, damaged } : message;
  });
}
