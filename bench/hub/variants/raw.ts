import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Relay } from './relay.ts';

/** What `ws` on Node can do at most: hands each frame, as it came, to the other one of two. */
export async function startRaw(): Promise<Relay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      for (const other of server.clients) if (other !== socket) other.send(data, { binary: false });
    });
  });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}
