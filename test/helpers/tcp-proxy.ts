import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A road to a port that a test can cut, as a network does: without a word to either side's program. */
export interface TcpProxy {
  readonly url: string;
  readonly port: number;
  /** Where it leads; set before the first connection. */
  target: number;
  /** Ends all connections at once. */
  cut(): void;
  /** Lets nobody through until `open`. */
  block(): void;
  open(): void;
  /** Carries nothing more on the connections there are, and leaves them open: both sides find out by themselves. */
  stall(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let blocked = false;
  const server = createServer((near) => {
    if (blocked) {
      near.destroy();
      return;
    }
    const far = connect(proxy.target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}); // being cut is the point
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const { port } = server.address() as AddressInfo;
  const proxy: TcpProxy = {
    url: `ws://127.0.0.1:${port}`,
    port,
    target: 0,
    cut,
    block: () => {
      blocked = true;
    },
    open: () => {
      blocked = false;
    },
    stall: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async close() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
  return proxy;
}
