import { join } from 'node:path';
import type { Log } from '../../base/log.ts';
import { type RunningHub, startHub } from '../../hub/index.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';
import { version } from '../version.ts';

/** The hub of a run, and the coordinator's place on it. */
export interface RunHub {
  readonly url: string;
  readonly client: HubClient;
  /** A damaged log.db, and where it was moved to. */
  readonly setAside?: { readonly path: string; readonly setAside: string };
  /** A token for a new connection under this name; undefined where the hub asks for none. */
  tokenFor(name: string): string | undefined;
  close(): Promise<void>;
}

interface RunHubOptions {
  readonly folder: string;
  readonly runKey: string;
  /** Somebody else's hub, for `--hub`. */
  readonly external?: { readonly url: string; readonly token?: string };
  readonly log: Log;
}

/** Starts a hub of the run's own on a free port, where every connection needs its own token; or joins the one that is named. */
export async function openRunHub({ folder, runKey, external, log }: RunHubOptions): Promise<RunHub> {
  if (external) {
    const name = `coordinator-${runKey.slice(0, 8)}`;
    const client = await connect(external.url, name, external.token, log);
    return { url: external.url, client, tokenFor: () => external.token, close: () => client.close() };
  }
  const path = join(folder, 'log.db');
  const hub = await startHub({
    port: 0,
    database: path,
    auth: 'required',
    version,
    log,
  });
  const token = hub.grant({ agent: 'coordinator', scopes: ['assign', 'watch'] });
  const client = await connect(hub.url, 'coordinator', token, log);
  return {
    url: hub.url,
    client,
    ...(hub.setAside !== undefined && { setAside: { path, setAside: hub.setAside } }),
    tokenFor: (name) => hub.grant({ agent: name, scopes: ['work'] }),
    close: () => closeBoth(client, hub),
  };
}

function connect(url: string, name: string, token: string | undefined, log: Log): Promise<HubClient> {
  return connectHub({ url, name, token, title: 'coordinator', log });
}

async function closeBoth(client: HubClient, hub: RunningHub): Promise<void> {
  await client.close();
  await hub.close();
}
