import type { Stage } from './stage.ts';

/** One of the talkers watches everything that is logged; the others just talk. */
export async function look({ actor, client }: Stage): Promise<void> {
  if (actor.name === 'talker-1') await client.watch();
}
