import type { Children } from '../children.ts';
import { launcherOptions } from '../launcher.ts';
import { findNatsServer, startNatsServer } from '../nats-server.ts';
import type { DurableHandlers } from './durable-process.ts';
import type { RelayHandlers } from './relay-process.ts';

/** Where messages are made durable: our hub with nobody reading, as JetStream has it; our hub with a reader; JetStream. */
export const stores = ['jetstream', 'level-1', 'level-1, read meanwhile'] as const;
export type Store = (typeof stores)[number];

/** How fast one of them confirms; CPU of the server in µs per message. */
export interface DurableCell {
  readonly store: Store;
  readonly repetition: number;
  readonly rate: number;
  readonly cpu: number;
}

const LOAD = { bytes: 256, inflight: 64, warmUp: 500, ms: 1_000 };

/** No mailbox is full before the window is over. */
const LIMITS = { mailboxMessages: 10_000_000, mailboxBytes: 10 ** 10 };

/** Measures all stores one after the other, as often as wanted; JetStream only where there is a server. */
export async function benchDurable(
  children: Children,
  repetitions: number,
  say: (line: string) => void,
): Promise<DurableCell[]> {
  const server = findNatsServer();
  if (server === undefined) say('durable: nats-server is not installed, so there is nothing to compare with');
  const cells: DurableCell[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    for (const store of stores) {
      if (store === 'jetstream' && server === undefined) continue;
      const folder = await children.folder();
      const sender = await children.start<DurableHandlers>('hub/durable-process', null, { core: 1 });
      const figures =
        store === 'jetstream'
          ? await overJetStream(server as string)
          : await overHub(store === 'level-1, read meanwhile');
      await sender.end();
      await children.removeFolder(folder);
      cells.push({ store, repetition, ...figures });
      say(`${repetition}/${repetitions} durable ${store}: ${Math.round(figures.rate)}/s`);

      async function overJetStream(path: string) {
        const nats = await startNatsServer(children, path, folder);
        const before = await nats.cpu();
        const { rate, total } = await sender.ask('published', { ...LOAD, port: nats.port });
        const cpu = ((await nats.cpu()) - before) / total;
        await nats.end();
        return { rate, cpu };
      }

      async function overHub(reader: boolean) {
        const settings = { variant: 'level-1', folder, limits: LIMITS };
        const relay = await children.start<RelayHandlers>('hub/relay-process', settings, {
          core: 0,
          nodeOptions: launcherOptions(),
        });
        const before = await relay.ask('cpu');
        const { rate, total } = await sender.ask('accepted', { ...LOAD, port: await relay.ask('port'), reader });
        const cpu = ((await relay.ask('cpu')) - before) / total;
        await relay.end();
        return { rate, cpu };
      }
    }
  }
  return cells;
}
