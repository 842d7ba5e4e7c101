import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '../base/errors.ts';
import { systemClock } from '../base/time.ts';
import { allowedHosts } from './accept.ts';
import { Hub } from './hub.ts';
import { defaultClocks, type HubOptions, limitsOf } from './options.ts';
import { openStorage } from './sqlite-storage.ts';
import { type Grant, Tokens } from './tokens.ts';
import { acceptUpgrades, type Doorkeeper } from './upgrade.ts';

/** A hub that listens. */
export interface RunningHub {
  /** Where clients connect: `ws://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** Identity of the log; another one means that old positions mean nothing. */
  readonly epoch: string;
  /** Where a damaged database was moved to. */
  readonly setAside?: string;
  /** Makes a token, good until it is revoked or the hub ends. */
  grant(grant: Grant): string;
  /** Takes a token back and ends the connections that came with it. */
  revoke(token: string): void;
  /** Resolves with the reason when the hub had to end itself because its log could not be written. */
  readonly failed: Promise<unknown>;
  close(): Promise<void>;
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** Starts a hub; rejects with `port_in_use` when somebody else listens there. */
export async function startHub(options: HubOptions): Promise<RunningHub> {
  const host = options.host ?? '127.0.0.1';
  const limits = limitsOf(options.limits);
  const server = createServer((_request, response) => {
    response.writeHead(426, { 'content-type': 'application/json' }).end('{"error":"this is a WebSocket hub"}\n');
  });
  // The port comes first: where another hub listens, its database is not to be touched.
  const port = await listen(server, host, options.port ?? 8765);
  const opening = openHub(options);
  const tokens = new Tokens();
  const policy = {
    hosts: allowedHosts(host, port, options.hostNames ?? []),
    origins: new Set(options.origins ?? []),
    auth: options.auth ?? (loopback.has(host) ? ('none' as const) : ('required' as const)),
    tokens,
    maxConnections: limits.connections,
  };
  const keeper = opening.then(
    ({ hub }): Doorkeeper => ({
      policy: () => ({ ...policy, connections: hub.connections }),
      serve: (...admitted) => hub.serve(...admitted),
    }),
  );
  acceptUpgrades(server, keeper, limits.maxPayload);
  const { hub, ...opened } = await opening.catch((error: unknown) => {
    server.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    ...opened,
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    grant: (grant) => tokens.grant(grant),
    revoke: (token) => {
      const grant = tokens.revoke(token);
      if (grant !== undefined) hub.evict(grant);
    },
    close: () => {
      closing ??= close(server, hub);
      return closing;
    },
  };
}

/** Opens the store and takes up what an earlier hub left in it. */
async function openHub(
  options: HubOptions,
): Promise<{ hub: Hub; epoch: string; setAside?: string; failed: Promise<unknown> }> {
  const log = options.log.child({ room: 'hub' });
  const { storage, setAside } = await (options.openStorage ?? openStorage)(options.database);
  if (setAside !== undefined) log.error({ setAside }, 'the database was damaged and is set aside');
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const hub = new Hub({
    storage,
    log,
    clock: options.clock ?? systemClock,
    clocks: { ...defaultClocks, ...options.clocks },
    limits: limitsOf(options.limits),
    concurrency: options.concurrency ?? 2,
    failed: fail,
  });
  await hub.restore();
  return { hub, epoch: storage.epoch, ...(setAside !== undefined && { setAside }), failed };
}

async function close(server: Server, hub: Hub): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await hub.close();
  server.closeAllConnections();
  await closed;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new AppError('port_in_use', `port ${port} on ${host} is in use; choose another one, or 0 for a free one`, {
              cause: error,
            })
          : error,
      );
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
