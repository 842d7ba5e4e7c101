import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, type Socket } from 'socket.io';
import type { Relay } from './relay.ts';

/** socket.io over WebSocket alone: with a map of names, or with rooms and the recovery of lost connections. */
export async function startSocketIo({ recovery }: { recovery: boolean }): Promise<Relay> {
  const http = createServer();
  const server = new Server(http, {
    transports: ['websocket'],
    serveClient: false,
    ...(recovery && { connectionStateRecovery: {} }),
  });
  const agents = new Map<string, Socket>();
  server.on('connection', async (socket) => {
    const name = String(socket.handshake.query.agent);
    agents.set(name, socket);
    if (recovery) await socket.join(name);
    socket.on('route', (message: { to: string }) => {
      if (recovery) server.to(message.to).emit('route', message);
      else agents.get(message.to)?.emit('route', message);
    });
    socket.on('disconnect', () => agents.delete(name));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return { port: (http.address() as AddressInfo).port, close: () => server.close() };
}
