import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type AcceptPolicy, type Admission, checkUpgrade } from './accept.ts';
import { asResponse, type Refusal } from './refusal.ts';

/** Who takes the sockets that were let in, and by which rules. */
export interface Doorkeeper {
  policy(): AcceptPolicy;
  serve(socket: WebSocket, stream: Socket, admission: Admission): void;
}

/** A socket that breaks before its upgrade has nobody else who listens. Not a closure, which would hold the request for as long. */
function endOnError(this: Duplex): void {
  this.destroy();
}

/** Upgrades the connections of `server` that pass the checks; until `keeper` is there they wait, and go when there is none. `refused` hears of the others. */
export function acceptUpgrades(
  server: Server,
  keeper: Promise<Doorkeeper>,
  maxPayload: number,
  refused: (refusal: Refusal) => void,
): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('hub.v1') ? 'hub.v1' : false),
  });
  // Whoever starts the hub hears of its failure; here it only means that nobody is let in.
  keeper.catch(() => undefined);
  server.on('upgrade', (request, stream, head) => {
    stream.on('error', endOnError);
    const decide = ({ policy, serve }: Doorkeeper) => {
      const admission = checkUpgrade(request, policy());
      if ('status' in admission) {
        refused(admission);
        stream.end(asResponse(admission));
      } else sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, stream as Socket, admission));
    };
    keeper.then(decide).catch(() => stream.destroy());
  });
}
