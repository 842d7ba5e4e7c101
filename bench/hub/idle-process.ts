/** Many level-1 clients that say hello and nothing more. */
import { answer } from '../answer.ts';
import { openLevelOneSocket } from './links/level-one-socket.ts';

/** Connections that are opened at the same time. */
const AT_ONCE = 50;

let open = 0;
let pings = 0;

const handlers = {
  /** Resolves when all are welcomed. */
  connect: async ({ port, count }: { port: number; count: number }): Promise<void> => {
    let next = 0;
    const connectSome = async () => {
      while (next < count) {
        next += 1;
        const { socket } = await openLevelOneSocket(port, `idle-${next}`);
        open += 1;
        socket.on('ping', () => {
          pings += 1;
        });
        socket.on('close', () => {
          open -= 1;
        });
        socket.on('error', () => undefined);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, connectSome));
  },
  /** Connections that are open, and pings that came since the last question. */
  count: () => {
    const seen = { open, pings };
    pings = 0;
    return seen;
  },
};
export type IdleHandlers = typeof handlers;

answer(handlers, () => undefined);
