import type { Clock } from '../base/time.ts';
import type { HubClient } from '../hub-client/index.ts';

export interface OrphanOptions {
  readonly client: Pick<HubClient, 'silentFor'>;
  /** Whether the process that started this one is still there. */
  readonly hasParent: () => boolean;
  readonly clock: Clock;
  /** How long the hub must have been silent; default 15 s. */
  readonly silentMs?: number;
}

/** Calls `onOrphaned` once when nobody is left to work for: the parent is gone and the hub silent. Returns what ends the watch. */
export function watchForOrphan(options: OrphanOptions, onOrphaned: () => void): () => void {
  const { client, hasParent, clock, silentMs = 15_000 } = options;
  let timer = clock.after(0, look);

  function look(): void {
    if (!hasParent() && client.silentFor() >= silentMs) onOrphaned();
    else timer = clock.after(silentMs / 15, look);
  }

  return () => timer.cancel();
}
