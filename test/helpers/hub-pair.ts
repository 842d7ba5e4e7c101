import { silentLog } from '../../base/log.ts';
import { type RunningHub, startHub } from '../../hub/index.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';

/** A hub on a free port and clients that close with it. */
export interface HubPair {
  readonly hub: RunningHub;
  connect(name: string, roles?: readonly string[]): Promise<HubClient>;
  close(): Promise<void>;
}

/** Starts a hub with quick clocks; `database` keeps its log between two starts. */
export async function startHubPair(database = ':memory:'): Promise<HubPair> {
  const hub = await startHub({
    port: 0,
    host: '127.0.0.1',
    database,
    log: silentLog(),
    auth: 'none',
    clocks: { backoffBase: 20, queue: 400, grace: 300 },
  });
  const clients: HubClient[] = [];
  return {
    hub,
    async connect(name, roles = []) {
      const client = await connectHub({ url: hub.url, name, roles, log: silentLog() });
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await hub.close();
    },
  };
}
