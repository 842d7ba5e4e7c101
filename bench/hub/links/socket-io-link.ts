import { io } from 'socket.io-client';
import type { Link, LinkOptions } from './link.ts';

/** A client of socket.io; it parses what comes and writes what goes, as it does for everybody. */
export async function openSocketIoLink({ port, name, next }: LinkOptions): Promise<Link> {
  const socket = io(`http://127.0.0.1:${port}`, {
    transports: ['websocket'],
    query: { agent: name },
    reconnection: false,
    forceNew: true,
  });
  const message = JSON.parse(next()) as object;
  const link: Link = {
    send: () => {
      socket.emit('route', message);
    },
    get buffered() {
      const { transport } = socket.io.engine as unknown as { transport: { ws?: { bufferedAmount: number } } };
      return transport.ws?.bufferedAmount ?? 0;
    },
    onMessage: () => undefined,
    onFault: () => undefined,
    settle: () => undefined,
    close: () => {
      socket.disconnect();
    },
  };
  socket.on('route', () => link.onMessage());
  socket.on('disconnect', (reason) => link.onFault(new Error(`${name} was closed: ${reason}`)));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  return link;
}
