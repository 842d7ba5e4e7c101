import { createHash } from 'node:crypto';
import type { Journal } from './journal.ts';
import { doneEffect } from './record.ts';

interface Effect<T> {
  /** Names the effect within the run, such as `push:npc/issue-3-0011aabb`. */
  readonly key: string;
  readonly kind: 'comment' | 'push' | 'pull' | 'review' | 'upload' | 'branch';
  /** What is about to be done; only its hash is logged. */
  readonly content: string;
  /** After a restart: whether the world shows that it was done. Its answer is the effect's result. */
  find(): Promise<T | undefined>;
  act(): Promise<T>;
}

/** Does something outside exactly once, also when the process dies in between: intended, done, and looked for before a repeat. */
export async function once<T>(journal: Journal, effect: Effect<T>): Promise<T> {
  const known = journal.record.effects.get(effect.key);
  if (known?.done) return doneEffect<T>(journal.record, effect.key) as T;
  if (known) {
    const found = await effect.find();
    if (found !== undefined) {
      await journal.write({ type: 'effect.done', key: effect.key, result: found });
      return found;
    }
  } else {
    const digest = createHash('sha256').update(effect.content).digest('hex');
    await journal.write({ type: 'effect.intended', key: effect.key, kind: effect.kind, digest });
  }
  const result = await effect.act();
  await journal.write({ type: 'effect.done', key: effect.key, result: result ?? null });
  return result;
}
