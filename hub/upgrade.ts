import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type AcceptPolicy, type Admission, checkUpgrade, type Refusal } from './accept.ts';

/** Who takes the sockets that were let in, and by which rules. */
export interface Doorkeeper {
  policy(): AcceptPolicy;
  serve(socket: WebSocket, stream: Socket, admission: Admission): void;
}

/** Upgrades the connections of `server` that pass the checks; until `keeper` is there they wait, and go when there is none. */
export function acceptUpgrades(server: Server, keeper: Promise<Doorkeeper>, maxPayload: number): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('hub.v1') ? 'hub.v1' : false),
  });
  // Whoever starts the hub hears of its failure; here it only means that nobody is let in.
  keeper.catch(() => undefined);
  server.on('upgrade', (request, stream, head) => {
    // A socket that breaks before its upgrade has nobody else who listens.
    stream.on('error', () => stream.destroy());
    const decide = ({ policy, serve }: Doorkeeper) => {
      const admission = checkUpgrade(request, policy());
      if ('status' in admission) refuse(stream, admission);
      else sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, stream as Socket, admission));
    };
    keeper.then(decide).catch(() => stream.destroy());
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
