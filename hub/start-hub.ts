import { stat } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { AppError } from '../base/errors.ts';
import { type Clock, systemClock } from '../base/time.ts';
import { allowedHosts } from './accept.ts';
import { serveHttp } from './http/serve.ts';
import { Hub } from './hub.ts';
import { listen } from './listen.ts';
import { watchLoop } from './loop-lag.ts';
import { isLoopback } from './loopback.ts';
import { Metrics } from './metrics.ts';
import { defaultClocks, type HubOptions, limitsOf } from './options.ts';
import { upgradePace } from './pace.ts';
import { openStorage } from './sqlite-storage.ts';
import { type Grant, openGrant, Tokens } from './tokens.ts';
import { acceptUpgrades, type Doorkeeper } from './upgrade.ts';
import type { HubState } from './view.ts';

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

/** Starts a hub; rejects with `port_in_use` when somebody else listens there, `usage` when it would be open to other machines. */
export async function startHub(options: HubOptions): Promise<RunningHub> {
  return (await serveHub(options, { replay: false })).running;
}

/** What {@link startHub} does; with `replay` for a hub that leaves alone what is in its store, and takes nothing from agents. */
export async function serveHub(
  options: HubOptions,
  { replay }: { replay: boolean },
): Promise<{ running: RunningHub; hub: Hub }> {
  const host = options.host ?? '127.0.0.1';
  const limits = limitsOf(options.limits);
  const clock = options.clock ?? systemClock;
  const metrics = new Metrics();
  const tokens = new Tokens();
  if (options.token !== undefined) tokens.admit(options.token, openGrant);
  let state: HubState = { name: 'opening', reason: 'its log is being read' };
  const policy = {
    hosts: new Set<string>(),
    origins: new Set(options.origins ?? []),
    auth: authOf(options, host),
    tokens,
    tokenInQuery: options.tokenInQuery ?? false,
    maxConnections: limits.connections,
    pace: upgradePace(limits.upgradesPerSecond, clock),
  };
  const server = createHttpServer(
    serveHttp({ policy: () => policy, state: () => state, log: options.log.child({ room: 'hub' }) }),
    limits.connections,
    Math.max(1000, options.clocks?.hello ?? defaultClocks.hello),
  );
  // The port comes first: where another hub listens, its database is not to be touched.
  const port = await listen(server, host, options.port ?? 8765);
  policy.hosts = allowedHosts(host, port, options.hostNames ?? []);
  const opening = openHub(options, clock, metrics, replay);
  const keeper = opening.then(
    ({ hub }): Doorkeeper => ({
      policy: () => ({
        ...policy,
        connections: hub.connections,
        ending: state.name === 'closing' || state.name === 'failed',
      }),
      serve: (...admitted) => hub.serve(...admitted),
    }),
  );
  acceptUpgrades(server, keeper, limits.maxPayload, ({ status }) => metrics.refusals.add(String(status)));
  const { hub, ...opened } = await opening.catch((error: unknown) => {
    server.close();
    server.closeAllConnections();
    throw error;
  });
  state = { name: 'ready', view: hub.view() };
  void opened.failed.then(() => {
    state = { name: 'failed', reason: 'the log cannot be written' };
  });
  const stopWatch = watchLoop(metrics.loopLag);
  let closing: Promise<void> | undefined;
  const running: RunningHub = {
    ...opened,
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    grant: (grant) => tokens.grant(grant),
    revoke: (token) => {
      const grant = tokens.revoke(token);
      if (grant !== undefined) hub.evict(grant);
    },
    close: () => {
      state = { name: 'closing', reason: 'the hub was told to end' };
      stopWatch();
      closing ??= close(server, hub);
      return closing;
    },
  };
  return { running, hub };
}

function authOf({ auth }: HubOptions, host: string): 'none' | 'required' {
  if (auth === 'none' && !isLoopback(host)) {
    throw new AppError('usage', `a hub on ${host} can be reached by other machines and needs a token`);
  }
  return auth ?? (isLoopback(host) ? 'none' : 'required');
}

/** Opens the store and takes up what an earlier hub left in it. */
async function openHub(
  options: HubOptions,
  clock: Clock,
  metrics: Metrics,
  replay: boolean,
): Promise<{ hub: Hub; epoch: string; setAside?: string; failed: Promise<unknown> }> {
  const log = options.log.child({ room: 'hub' });
  const { storage, setAside } = await (options.openStorage ?? openStorage)(options.database, {
    durability: options.durability ?? 'process',
    log,
  });
  if (setAside !== undefined) log.error({ setAside }, 'the database was damaged and is set aside');
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const hub = new Hub({
    storage,
    log,
    clock,
    clocks: { ...defaultClocks, ...options.clocks },
    limits: limitsOf(options.limits),
    concurrency: options.concurrency ?? 2,
    retention: options.retention ?? {},
    metrics,
    version: options.version,
    durability: options.durability ?? 'process',
    bytes: () => bytesOf(options.database),
    replay,
    failed: fail,
  });
  if (!replay) await hub.restore();
  return { hub, epoch: storage.epoch, ...(setAside !== undefined && { setAside }), failed };
}

/** Size of a database with its write-ahead log; 0 for one that is no file. */
async function bytesOf(path: string): Promise<number> {
  const files = [path, `${path}-wal`].map((file) =>
    stat(file)
      .then(({ size }) => size)
      .catch(() => 0),
  );
  return (await Promise.all(files)).reduce((sum, size) => sum + size, 0);
}

/** A server that gives nobody more than `patience` ms to say what they want. */
function createHttpServer(answer: RequestListener, connections: number, patience: number): Server {
  const server = createServer(
    {
      headersTimeout: patience,
      requestTimeout: 3 * patience,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: Math.min(5000, patience),
    },
    answer,
  );
  // Beyond what agents may have there is room for those who look, and for telling that the hub is full.
  server.maxConnections = connections + 256;
  return server;
}

async function close(server: Server, hub: Hub): Promise<void> {
  // Who asks meanwhile is told that the hub ends.
  await hub.close();
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
