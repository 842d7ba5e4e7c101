import type { FrameOf } from '../protocol/index.ts';

const taskId = /^[A-Za-z0-9._:-]{0,128}$/;

/**
 * Reads the frame that nearly all of the traffic consists of without the schema, which costs more than all the rest of
 * reading it: a `route` with the five fields, an `id` or not, and nothing else. Whatever is not exactly that is undefined
 * here and judged by the schema; both agree on what this takes. `keys` is how many keys the frame has.
 */
export function plainRoute(parsed: Readonly<Record<string, unknown>>, keys: number): FrameOf<'route'> | undefined {
  const { type, from, to, task_id, payload, id } = parsed;
  if (type !== 'route') return undefined;
  // Parsed JSON holds no undefined: as many keys as there are of these are these and no others.
  if (keys !== (id === undefined ? 5 : 6) || payload === undefined) return undefined;
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > 128)) return undefined;
  if (typeof from !== 'string' || from.length > 64) return undefined;
  if (typeof to !== 'string' || to.length > 128) return undefined;
  if (typeof task_id !== 'string' || (task_id !== '' && !taskId.test(task_id))) return undefined;
  return parsed as FrameOf<'route'>;
}

/** Reads the other frame that comes often: an `ack` up to a position, with the five fields and nothing else. */
export function plainAck(parsed: Readonly<Record<string, unknown>>, keys: number): FrameOf<'ack'> | undefined {
  const { type, from, to, task_id, payload } = parsed;
  if (type !== 'ack' || keys !== 5 || typeof payload !== 'object' || payload === null) return undefined;
  if (typeof from !== 'string' || from.length > 64) return undefined;
  if (typeof to !== 'string' || to.length > 128 || task_id !== '') return undefined;
  const { seq } = payload as { readonly seq?: unknown };
  if (!Number.isSafeInteger(seq) || (seq as number) < 0) return undefined;
  return Object.keys(payload).length === 1 ? (parsed as FrameOf<'ack'>) : undefined;
}
