/** A sender that counts what it was told is durable: by our hub, or by JetStream. */
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { answer } from '../answer.ts';
import { buildFrame, frameSource } from './frames.ts';
import { openLevelOneLink } from './links/level-one-link.ts';
import { numberAfter, openLevelOneSocket } from './links/level-one-socket.ts';

/** How much is sent: `inflight` unconfirmed at most, for `ms` after a warm-up. */
interface Load {
  readonly port: number;
  readonly bytes: number;
  readonly inflight: number;
  readonly warmUp: number;
  readonly ms: number;
}

/** Confirmed messages a second within the window, and how many were confirmed in all, warm-up included. */
interface Confirmed {
  readonly rate: number;
  readonly total: number;
}

const UPTO = Buffer.from('"upto":');

const handlers = {
  /** Sends to a mailbox that nobody empties, as a stream without consumers, or to one that a reader empties meanwhile. */
  accepted: async ({ port, bytes, inflight, warmUp, ms, reader }: Load & { reader: boolean }): Promise<Confirmed> => {
    if (reader) {
      const idle = () => '';
      await openLevelOneLink({ port, name: 'b', bytes, next: idle });
    } else {
      const { socket } = await openLevelOneSocket(port, 'b');
      socket.terminate();
    }
    const { socket } = await openLevelOneSocket(port, 'a');
    const next = frameSource({ from: 'a', to: 'b', bytes, levelOne: true }, 40 * (warmUp + ms));
    const clock = windowClock(warmUp, ms);
    // hello was the first frame
    let sent = 1;
    return new Promise((resolve, reject) => {
      const fill = (upto: number) => {
        for (; sent - upto < inflight; sent += 1) socket.send(next());
      };
      socket.on('message', (data: Buffer) => {
        const upto = numberAfter(data, UPTO);
        if (upto === undefined) {
          reject(new Error(`the hub said ${data}`));
          return;
        }
        const done = clock(upto);
        if (done === undefined) fill(upto);
        else resolve(done);
      });
      fill(1);
    });
  },
  /** Publishes into a file stream and waits for each acknowledgement. */
  published: async ({ port, bytes, inflight, warmUp, ms }: Load): Promise<Confirmed> => {
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: 'BENCH', subjects: ['bench'], storage: StorageType.File });
    const stream = jetstream(connection);
    const payload = Buffer.from(buildFrame({ from: 'a', to: 'b', bytes, levelOne: true }));
    const clock = windowClock(warmUp, ms);
    let count = 0;
    let done: Confirmed | undefined;
    const publish = async () => {
      while (done === undefined) {
        await stream.publish('bench', payload);
        count += 1;
        done ??= clock(count);
      }
    };
    await Promise.all(Array.from({ length: inflight }, publish));
    await connection.close();
    return done as unknown as Confirmed;
  },
};
export type DurableHandlers = typeof handlers;

/** Told the count so far, gives the rate between the end of the warm-up and the end of the window. */
function windowClock(warmUp: number, ms: number): (count: number) => Confirmed | undefined {
  const begun = performance.now();
  let start: { at: number; count: number } | undefined;
  return (count) => {
    const now = performance.now();
    if (now - begun < warmUp) return undefined;
    start ??= { at: now, count };
    if (now - start.at < ms) return undefined;
    return { rate: ((count - start.count) / (now - start.at)) * 1000, total: count };
  };
}

answer(handlers, () => undefined);
