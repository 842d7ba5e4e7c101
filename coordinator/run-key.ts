import { createHash, randomBytes } from 'node:crypto';
import type { ThreadRef } from './trigger.ts';

/**
 * The key of the run that a mention starts: the first 16 hex digits of SHA-256 over slug, kind, number and occasion, in this order,
 * joined by line feeds. Rebuilds and double deliveries of one mention share it.
 */
export function runKeyOf(thread: ThreadRef): string {
  const text = [thread.slug, thread.kind, thread.number, thread.occasion].join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The key of a run that no thread started (`--goal`): 16 random hex digits. */
export function drawRunKey(): string {
  return randomBytes(8).toString('hex');
}
