import { once } from 'node:events';
import { WebSocket } from 'ws';

/** What `hello` may carry to go on with an earlier session. */
export interface Resume {
  readonly session: string;
  readonly resume_token: string;
  readonly epoch: string;
  readonly seq: number;
}

/** Connects at level 1; resolves once welcomed, with what is needed to come back. `hear` gets all that comes after the welcome. */
export async function openLevelOneSocket(
  port: number,
  name: string,
  resume?: Resume,
  hear: (data: Buffer) => void = () => undefined,
): Promise<{ socket: WebSocket; welcome: Omit<Resume, 'seq'> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?agent=${name}&v=1`, { perMessageDeflate: false });
  await once(socket, 'open');
  socket.send(levelOneFrame(name, 'hello', JSON.stringify({ v: 1, resume })));
  const data = await new Promise<Buffer>((resolve) => {
    // What comes with the welcome is there before whoever waits for it is.
    socket.once('message', (first: Buffer) => {
      socket.on('message', hear);
      resolve(first);
    });
  });
  const frame = JSON.parse(String(data)) as { type: string; payload: Omit<Resume, 'seq'> };
  if (frame.type !== 'welcome') throw new Error(`${name} was not welcomed: ${data}`);
  return { socket, welcome: frame.payload };
}

/** A frame of a level-1 client to its hub, its payload as JSON. */
export function levelOneFrame(name: string, type: string, payload: string): string {
  return `{"v":1,"type":"${type}","from":"${name}","to":"hub","task_id":"","payload":${payload}}`;
}

/** Reads the number after the last `key`, without making a text of the bytes; undefined without that key. */
export function numberAfter(data: Buffer, key: Buffer): number | undefined {
  const start = data.lastIndexOf(key);
  if (start === -1) return undefined;
  let value = 0;
  for (let at = start + key.length; ; at += 1) {
    const digit = (data[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}
