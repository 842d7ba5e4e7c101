import { levelOneFrame, numberAfter, openLevelOneSocket } from './level-one-socket.ts';
import type { Link, LinkOptions } from './link.ts';

/** Messages between two acknowledgements. */
const ACK_EVERY = 16;

const SEQ = Buffer.from('"seq":');
const ACCEPTED = Buffer.from('"accepted"');

/** A level-1 client: reads `seq` from the bytes, acknowledges every 16th message and the last. */
export async function openLevelOneLink({ port, name, next }: LinkOptions): Promise<Link> {
  const { socket } = await openLevelOneSocket(port, name);
  let seq = 0;
  let unacked = 0;
  const acknowledge = () => {
    if (unacked === 0) return;
    unacked = 0;
    socket.send(levelOneFrame(name, 'ack', `{"seq":${seq}}`));
  };
  const link: Link = {
    send: () => socket.send(next()),
    get buffered() {
      return socket.bufferedAmount;
    },
    onMessage: () => undefined,
    onFault: () => undefined,
    settle: acknowledge,
    close: () => socket.terminate(),
  };
  socket.on('message', (data: Buffer) => {
    const number = numberAfter(data, SEQ);
    if (number === undefined) {
      if (!data.includes(ACCEPTED)) link.onFault(new Error(`${name} got ${data}`));
      return;
    }
    seq = number;
    unacked += 1;
    if (unacked === ACK_EVERY) acknowledge();
    link.onMessage();
  });
  socket.on('close', (code, reason) => link.onFault(new Error(`${name} was closed: ${code} ${reason}`)));
  return link;
}
