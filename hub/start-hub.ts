import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { AppError } from '../base/errors.ts';
import { systemClock } from '../base/time.ts';
import { type AcceptPolicy, allowedHosts, checkUpgrade, type Refusal } from './accept.ts';
import { Hub } from './hub.ts';
import { defaultClocks, defaultLimits, type HubOptions } from './options.ts';
import { openStorage } from './sqlite-storage.ts';
import { type Grant, Tokens } from './tokens.ts';

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
  const limits = { ...defaultLimits, ...options.limits };
  const log = options.log.child({ room: 'hub' });
  const server = createServer((_request, response) => {
    response.writeHead(426, { 'content-type': 'application/json' }).end('{"error":"this is a WebSocket hub"}\n');
  });
  const port = await listen(server, host, options.port ?? 8765);
  const opened = await openStorage(options.database).catch((error: unknown) => {
    server.close();
    throw error;
  });
  if (opened.setAside !== undefined)
    log.error({ setAside: opened.setAside }, 'the database was damaged and is set aside');
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const hub = new Hub({
    storage: opened.storage,
    log,
    clock: options.clock ?? systemClock,
    clocks: { ...defaultClocks, ...options.clocks },
    limits,
    concurrency: options.concurrency ?? 2,
    failed: fail,
  });
  await hub.restore();
  const tokens = new Tokens();
  const policy = {
    hosts: allowedHosts(host, port, options.hostNames ?? []),
    origins: new Set(options.origins ?? []),
    auth: options.auth ?? (loopback.has(host) ? ('none' as const) : ('required' as const)),
    tokens,
    maxConnections: limits.connections,
  };
  acceptUpgrades(server, hub, limits.maxPayload, () => ({ ...policy, connections: hub.connections }));
  let closing: Promise<void> | undefined;
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    await hub.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    epoch: opened.storage.epoch,
    ...(opened.setAside !== undefined && { setAside: opened.setAside }),
    grant: (grant) => tokens.grant(grant),
    revoke: (token) => {
      const grant = tokens.revoke(token);
      if (grant !== undefined) hub.evict(grant);
    },
    failed,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function acceptUpgrades(server: Server, hub: Hub, maxPayload: number, policy: () => AcceptPolicy): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('hub.v1') ? 'hub.v1' : false),
  });
  server.on('upgrade', (request, stream, head) => {
    // A socket that breaks before its upgrade has nobody else who listens.
    stream.on('error', () => stream.destroy());
    const admission = checkUpgrade(request, policy());
    if ('status' in admission) refuse(stream, admission);
    else sockets.handleUpgrade(request, stream, head, (socket) => hub.serve(socket, stream, admission));
  });
}

function refuse(stream: Duplex, { status, code, message }: Refusal): void {
  const body = `${JSON.stringify({ error: { code, message } })}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 503 ? ['Retry-After: 5'] : []),
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
  ];
  stream.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
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
