import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Link, LinkOptions } from './link.ts';

/** A client that only sends and counts: for the original relay, the raw one, and our level 0. */
export async function openPlainLink({ port, name, bytes, next }: LinkOptions): Promise<Link> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?agent=${name}`, { perMessageDeflate: false });
  const link: Link = {
    send: () => socket.send(next()),
    get buffered() {
      return socket.bufferedAmount;
    },
    onMessage: () => undefined,
    onFault: () => undefined,
    settle: () => undefined,
    close: () => socket.terminate(),
  };
  socket.on('message', (data: Buffer) => {
    // A relay adds keys and takes none away; what is shorter is a complaint.
    if (data.length < bytes) link.onFault(new Error(`${name} got ${data}`));
    else link.onMessage();
  });
  socket.on('close', (code, reason) => link.onFault(new Error(`${name} was closed: ${code} ${reason}`)));
  await once(socket, 'open');
  return link;
}
