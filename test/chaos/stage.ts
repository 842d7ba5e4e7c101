import { sleep } from '../../base/time.ts';
import type { HubClient } from '../../hub-client/index.ts';
import type { Outgoing } from '../../hub-client/outgoing.ts';
import type { FrameType } from '../../protocol/index.ts';
import type { Random } from '../helpers/random.ts';
import type { Actor } from './cast.ts';

/** What an agent plays with, for as long as one of its clients lives. */
export interface Stage {
  readonly actor: Actor;
  /** Unique to this client: part of the ids of what it makes. */
  readonly key: string;
  readonly client: HubClient;
  readonly random: Random;
  /** Aborted when this client is to leave. */
  readonly leaving: AbortSignal;
  /** No new work is to be begun; what is under way goes on. */
  readonly quiet: () => boolean;
  /** Asks to leave early. */
  leave(): void;
}

/** Sends a frame; false when it was not taken (the record has the reason). */
export async function say<T extends FrameType>({ client }: Stage, frame: Outgoing<T>): Promise<boolean> {
  return client.send(frame).then(
    () => true,
    () => false,
  );
}

/** Waits a random time; rejects when the client is to leave. */
export async function pause({ random, leaving }: Stage, least: number, most: number): Promise<void> {
  await sleep(random.between(least, most), leaving);
}
