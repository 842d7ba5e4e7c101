import type { Tape } from './tape.ts';

/** Two tapes as one: what the one in front does not answer comes to the one behind. */
export function bothTapes(front: Tape | undefined, behind: Tape | undefined): Tape | undefined {
  if (!front || !behind || front.replays) return front ?? behind;
  return {
    replays: behind.replays,
    carry: (carrier, host) => front.carry(behind.carry(carrier, host), host),
    async close() {
      await front.close();
      await behind.close();
    },
  };
}
