import { v7 as uuid } from 'uuid';

/** Which frames are built. */
export interface FrameKind {
  readonly from: string;
  readonly to: string;
  /** Exact size. */
  readonly bytes: number;
  /** With the keys that our client adds at level 1: `v`, and an `id` that no other frame has. */
  readonly levelOne: boolean;
}

/** One frame: the five fields, padded to its size with one letter. */
export function buildFrame({ from, to, bytes, levelOne }: FrameKind): string {
  const five = { type: 'route', from, to, task_id: 'bench.1', payload: { goal: '' } };
  const empty = JSON.stringify(levelOne ? { v: 1, id: uuid(), ...five } : five);
  if (empty.length > bytes) throw new Error(`a frame has at least ${empty.length} bytes`);
  const frame = empty.replace('"goal":""', `"goal":"${'x'.repeat(bytes - empty.length)}"`);
  // Through bytes and back: V8 would put a text of several pieces together only when it is sent.
  return Buffer.from(frame).toString('latin1');
}

/** Hands out frames that were built before; level-1 ones once each, and further ones are built when there are no more. */
export function frameSource(kind: FrameKind, count: number): () => string {
  if (!kind.levelOne) {
    const frame = buildFrame(kind);
    return () => frame;
  }
  const built = Array.from({ length: count }, () => buildFrame(kind));
  return () => built.pop() ?? buildFrame(kind);
}
