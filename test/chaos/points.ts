import type { Random } from '../helpers/random.ts';

/** Every frame type that is logged, or changes what the hub keeps. `stale_result` is how a late `task.result` is logged. */
export const frameTypes = [
  'route',
  'register_task',
  'task.assign',
  'task.accept',
  'task.decline',
  'task.progress',
  'task.input',
  'task.answer',
  'task.result',
  'stale_result',
  'task.release',
  'task.status',
  'task.event',
  'task.cancel',
  'hello',
  'ack',
  'bye',
] as const;

/** What is done at a point. The hub is held there meanwhile: the frame is committed, and nothing was said of it. */
export const deeds = [
  'hub killed',
  'hub killed, again at its first commit',
  'hub stopped',
  'all cut',
  'sender killed',
  'recipient killed',
  'sender stopped',
  'recipient stopped',
  'sender cut',
  'recipient cut',
  'sender stalled',
  'hub and sender killed',
] as const;

export type Deed = (typeof deeds)[number];

/** A place in the log, as it will come to be: at the commit that holds the frame of this type after `skip` others. */
export interface Point {
  readonly type: string;
  readonly skip: number;
  readonly deed: Deed;
  /** How long whoever is stopped stands still, ms. */
  readonly stopMs: number;
}

/** Types of which there are many a second. */
const frequent: ReadonlySet<string> = new Set(['route', 'ack', 'task.status', 'task.event', 'task.progress']);

/** Half of the points kill the hub; the other deeds share the rest. */
const weighted: readonly Deed[] = [...deeds, ...Array.from({ length: 10 }, () => 'hub killed' as const)];

/** Draws `count` points: the types in turn, so that each gets its share; where all types have one, each type's first kills the hub. */
export function drawPoints(count: number, random: Random): Point[] {
  const points: Point[] = [];
  while (points.length < count) {
    const first = points.length === 0 && count >= frameTypes.length;
    for (const type of random.shuffle(frameTypes)) {
      points.push({
        type,
        skip: random.int(frequent.has(type) ? 60 : 4),
        deed: first ? 'hub killed' : random.pick(weighted),
        stopMs: random.between(50, 2000),
      });
    }
  }
  return points.slice(0, count);
}
