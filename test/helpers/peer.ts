import { EventEmitter, once } from 'node:events';
import { WebSocket } from 'ws';

/** A frame as a test sees it. */
export interface PeerFrame {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly task_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into payloads it has just provoked
  readonly payload: any;
  readonly id?: string;
  readonly ref?: string;
  readonly seq?: number;
  readonly prev?: number;
  readonly lsn?: number;
  readonly attempt?: number;
  readonly redelivered?: number;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A bare socket that speaks the protocol by hand, so that a test sees every frame as it is. */
export class Peer {
  readonly name: string;
  readonly socket: WebSocket;
  readonly frames: PeerFrame[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #heard = new EventEmitter();
  /** Acknowledges by itself what carries a seq. */
  acks = true;
  #sent = 0;

  constructor(name: string, socket: WebSocket) {
    this.name = name;
    this.socket = socket;
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as PeerFrame;
      this.frames.push(frame);
      if (this.acks && frame.seq !== undefined && socket.readyState === socket.OPEN) {
        this.socket.send(JSON.stringify({ ...envelopeOf(this.name), type: 'ack', payload: { seq: frame.seq } }));
      }
      this.#heard.emit('frame');
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#heard.emit('frame');
    });
  }

  /** Sends a frame; the five fields are filled in. Returns its id. */
  send(frame: { type: string } & Partial<PeerFrame>): string {
    this.#sent += 1;
    const id = frame.id ?? `${this.name}-${this.#sent}-${Math.random().toString(36).slice(2)}`;
    this.socket.send(JSON.stringify({ ...envelopeOf(this.name), id, ...frame }));
    return id;
  }

  /** The first frame, from those heard so far on, that fits; rejects after 10 s. */
  async wait(fits: (frame: PeerFrame) => boolean): Promise<PeerFrame> {
    return this.#until(() => this.frames.find(fits));
  }

  /** Like {@link wait}, by type, and takes the frame out of `frames`, so that the next call finds the next one. */
  async next(type: string, fits: (frame: PeerFrame) => boolean = () => true): Promise<PeerFrame> {
    const found = await this.wait((frame) => frame.type === type && fits(frame));
    this.frames.splice(this.frames.indexOf(found), 1);
    return found;
  }

  /** Waits for the hub to close. */
  async end(): Promise<{ code: number; reason: string }> {
    return this.#until(() => this.closed);
  }

  /** Sends a ping and waits for its pong: everything sent before has been handled then. */
  async ping(): Promise<void> {
    const mark = Math.random();
    this.send({ type: 'ping', payload: mark });
    await this.next('pong', (frame) => frame.payload === mark);
  }

  async close(): Promise<void> {
    if (this.socket.readyState === this.socket.CLOSED) return;
    this.socket.close();
    await once(this.socket, 'close');
  }

  async #until<T>(find: () => T | undefined): Promise<T> {
    const signal = AbortSignal.timeout(10_000);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      try {
        await once(this.#heard, 'frame', { signal });
      } catch {
        const types = this.frames
          .map((frame) => `${frame.type} ${JSON.stringify(frame.payload)?.slice(0, 200)}`)
          .join('\n');
        throw new Error(`${this.name} waited in vain; closed: ${JSON.stringify(this.closed)}; heard:\n${types}`);
      }
    }
  }
}

function envelopeOf(from: string) {
  return { from, to: 'hub', task_id: '', payload: null };
}

/** Connects at level 0. */
export async function connectPeer(
  url: string,
  name: string,
  options: { query?: string; headers?: Record<string, string>; protocols?: string[] } = {},
): Promise<Peer> {
  const address = `${url}/?agent=${name}${options.query ?? ''}`;
  const socket = new WebSocket(address, options.protocols ?? [], { headers: options.headers ?? {} });
  const peer = new Peer(name, socket);
  await once(socket, 'open');
  return peer;
}

/** Connects and says hello. */
export async function helloPeer(
  url: string,
  name: string,
  hello: Readonly<Record<string, unknown>> = {},
  options: Parameters<typeof connectPeer>[2] = {},
): Promise<{ peer: Peer; welcome: PeerFrame }> {
  const peer = await connectPeer(url, name, { ...options, query: `&v=1${options.query ?? ''}` });
  peer.send({ type: 'hello', payload: { v: 1, ...hello } });
  return { peer, welcome: await peer.next('welcome') };
}
