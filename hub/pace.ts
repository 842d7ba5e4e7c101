import type { Clock } from '../base/time.ts';
import { Bucket } from './rate.ts';

/** Names whose pace is kept in mind. */
const REMEMBERED = 1024;

/**
 * How often connections come under names that differ in their number only (`coder-1`, `coder-2`): a program that crashes and comes
 * back in a circle must not keep the hub from the others. Returns how many ms a connection comes too early; 0 = it may come.
 */
export function upgradePace(perSecond: number, clock: Clock): (name: string) => number {
  const buckets = new Map<string, Bucket>();
  return (name) => {
    if (perSecond === 0) return 0;
    const kind = name.replace(/[-_]\d+$/, '');
    const now = clock.monotonic();
    const bucket = buckets.get(kind) ?? new Bucket(perSecond, perSecond, now);
    // Set anew, so that the first of the map is the one that was not asked for longest.
    buckets.delete(kind);
    buckets.set(kind, bucket);
    if (buckets.size > REMEMBERED) buckets.delete(buckets.keys().next().value as string);
    return bucket.tryTake(1, now);
  };
}
