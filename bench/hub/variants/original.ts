import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Relay } from './relay.ts';

/** The minimal relay that everything is measured by: a map of names, each frame parsed and written anew. */
export async function startOriginal(): Promise<Relay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const agents = new Map<string | null, WebSocket>();
  const tasks = new Map<string, string>();
  server.on('connection', (socket, request) => {
    const name = new URL(request.url ?? '/', 'ws://hub').searchParams.get('agent');
    agents.set(name, socket);
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as { type: string; from: string; to: string; task_id: string };
      if (message.type === 'register_task') tasks.set(message.task_id, message.from);
      if (message.type === 'route') agents.get(message.to)?.send(JSON.stringify(message));
    });
    socket.on('close', () => agents.delete(name));
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
