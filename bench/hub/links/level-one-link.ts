import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Link, LinkOptions } from './link.ts';

/** Messages between two acknowledgements. */
const ACK_EVERY = 16;

const SEQ = Buffer.from('"seq":');
const ACCEPTED = Buffer.from('"accepted"');

/** A level-1 client: says hello, reads `seq` from the bytes, acknowledges every 16th message and the last. */
export async function openLevelOneLink({ port, name, next }: LinkOptions): Promise<Link> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?agent=${name}&v=1`, { perMessageDeflate: false });
  await once(socket, 'open');
  socket.send(levelOneFrame(name, 'hello', '{"v":1}'));
  const [welcome] = (await once(socket, 'message')) as [Buffer];
  if (!welcome.includes('"welcome"')) throw new Error(`${name} was not welcomed: ${welcome}`);
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
    const at = data.lastIndexOf(SEQ);
    if (at === -1) {
      if (!data.includes(ACCEPTED)) link.onFault(new Error(`${name} got ${data}`));
      return;
    }
    seq = readNumber(data, at + SEQ.length);
    unacked += 1;
    if (unacked === ACK_EVERY) acknowledge();
    link.onMessage();
  });
  socket.on('close', (code, reason) => link.onFault(new Error(`${name} was closed: ${code} ${reason}`)));
  return link;
}

/** A frame of a level-1 client to its hub, its payload as JSON. */
export function levelOneFrame(name: string, type: string, payload: string): string {
  return `{"v":1,"type":"${type}","from":"${name}","to":"hub","task_id":"","payload":${payload}}`;
}

/** Reads digits without making a text of them. */
export function readNumber(data: Buffer, start: number): number {
  let value = 0;
  for (let at = start; ; at += 1) {
    const digit = (data[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}
