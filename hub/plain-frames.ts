import { type FrameOf, PROTOCOL_VERSION } from '../protocol/index.ts';

const taskId = /^[A-Za-z0-9._:-]{0,128}$/;

/**
 * Reads the frame that nearly all of the traffic consists of without the schema, which costs more than all the rest of
 * reading it: a `route` with the five fields, `v` and `id` or not, and nothing else. Whatever is not exactly that is
 * undefined here and judged by the schema; both agree on what this takes. `keys` is how many keys the frame has.
 */
export function plainRoute(parsed: Readonly<Record<string, unknown>>, keys: number): FrameOf<'route'> | undefined {
  const { type, from, to, task_id, payload } = parsed;
  if (type !== 'route' || payload === undefined || !hasFive(parsed, keys)) return undefined;
  if (typeof from !== 'string' || from.length > 64) return undefined;
  if (typeof to !== 'string' || to.length > 128) return undefined;
  if (typeof task_id !== 'string' || (task_id !== '' && !taskId.test(task_id))) return undefined;
  return parsed as FrameOf<'route'>;
}

/** Reads the other frame that comes often: an `ack` up to a position, with the same keys. */
export function plainAck(parsed: Readonly<Record<string, unknown>>, keys: number): FrameOf<'ack'> | undefined {
  const { type, from, to, task_id, payload } = parsed;
  if (type !== 'ack' || typeof payload !== 'object' || payload === null || !hasFive(parsed, keys)) return undefined;
  if (typeof from !== 'string' || from.length > 64) return undefined;
  if (typeof to !== 'string' || to.length > 128 || task_id !== '') return undefined;
  const { seq } = payload as { readonly seq?: unknown };
  if (!Number.isSafeInteger(seq) || (seq as number) < 0) return undefined;
  return Object.keys(payload).length === 1 ? (parsed as FrameOf<'ack'>) : undefined;
}

/** Whether beside five keys there are at most a `v` and an `id` as they should be. */
function hasFive({ v, id }: Readonly<Record<string, unknown>>, keys: number): boolean {
  // Parsed JSON holds no undefined: as many keys as there are of the known ones are these and no others.
  if (keys !== 5 + (v === undefined ? 0 : 1) + (id === undefined ? 0 : 1)) return false;
  if (v !== undefined && v !== PROTOCOL_VERSION) return false;
  return id === undefined || (typeof id === 'string' && id !== '' && id.length <= 128);
}
