import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Envelope } from '../../protocol/index.ts';

/** A frame as a test reads it. */
interface SeenFrame extends Envelope {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into payloads of every shape
  payload: any;
}

/** One connection of a client, with the test as the hub. */
export interface ScriptedConnection {
  readonly hello: SeenFrame;
  /** All frames that came, `hello` first. */
  readonly frames: readonly SeenFrame[];
  /** The next frame of this type that no earlier call returned. */
  next(type: string): Promise<SeenFrame>;
  /** Sends a frame from the hub; what is missing is filled in. */
  send(frame: Partial<SeenFrame> & { type: string }): void;
  /** Says that all that came so far is committed. */
  accept(): void;
  refuse(frame: SeenFrame, code: string, more?: { retryable?: boolean; retry_after_ms?: number }): void;
  end(code: number, reason?: string): void;
  /** Stops reading and answering, without closing. */
  freeze(): void;
  terminate(): void;
}

interface WelcomeOptions {
  readonly epoch?: string;
  readonly session?: string;
  readonly resume?: { state: 'new' | 'recovered' | 'gap'; from?: number; to?: number; reason?: string };
  readonly pingMs?: number;
  readonly pongMs?: number;
  readonly tasks?: readonly { task_id: string; attempt: number }[];
  /** Frames sent in the same packet as the welcome. */
  readonly with?: readonly (Partial<SeenFrame> & { type: string })[];
}

/** A WebSocket server that does nothing on its own: for what a good hub never does. */
export interface ScriptedHub {
  readonly url: string;
  /** Waits for the next client, takes its hello and welcomes it. */
  welcome(options?: WelcomeOptions): Promise<ScriptedConnection>;
  /** Waits for the next client and takes its hello. */
  connection(): Promise<ScriptedConnection>;
  close(): Promise<void>;
}

export async function startScriptedHub(): Promise<ScriptedHub> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const waiting = queue<WebSocket>();
  server.on('connection', (socket) => {
    socket.on('error', () => {}); // the test cuts connections
    waiting.put(socket);
  });
  const connection = async (): Promise<Wired> => wire(await waiting.take());
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connection,
    async welcome(options = {}) {
      const wired = await connection();
      wired.cork(() => {
        wired.send({ type: 'welcome', ref: wired.hello.id, payload: welcomePayload(options) });
        for (const frame of options.with ?? []) wired.send(frame);
      });
      return wired;
    },
    async close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Wired extends ScriptedConnection {
  cork(work: () => void): void;
}

async function wire(socket: WebSocket): Promise<Wired> {
  const frames: SeenFrame[] = [];
  const byType = new Map<string, Queue<SeenFrame>>();
  const typed = (type: string): Queue<SeenFrame> => {
    const found = byType.get(type) ?? queue<SeenFrame>();
    byType.set(type, found);
    return found;
  };
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as SeenFrame;
    frames.push(frame);
    typed(frame.type).put(frame);
  });
  const hello = await typed('hello').take();
  const raw = (socket as unknown as { _socket: import('node:net').Socket })._socket;
  const send: ScriptedConnection['send'] = (frame) => {
    socket.send(JSON.stringify({ v: 1, from: 'hub', to: hello.from, task_id: '', payload: {}, ...frame }));
  };
  return {
    hello,
    frames,
    next: (type) => typed(type).take(),
    send,
    accept: () => send({ type: 'accepted', payload: { upto: frames.length } }),
    refuse(frame, code, more) {
      const payload = { code, message: `not this ${frame.type}`, retryable: false, ...more };
      send({ type: 'error', ref: frame.id, payload });
      send({ type: 'accepted', payload: { upto: frames.length } });
    },
    end: (code, reason) => socket.close(code, reason),
    freeze: () => raw.pause(),
    terminate: () => socket.terminate(),
    cork(work) {
      raw.cork();
      work();
      raw.uncork();
    },
  };
}

function welcomePayload(options: WelcomeOptions): unknown {
  return {
    v: 1,
    session: options.session ?? 's1',
    resume_token: 'again',
    epoch: options.epoch ?? 'e1',
    seq: 0,
    features: [],
    ping_ms: options.pingMs ?? 30_000,
    pong_ms: options.pongMs ?? 10_000,
    lease_ms: 300_000,
    limits: { max_bytes: 524_288, max_inflight: 32, rate: 200, burst: 400 },
    resume: options.resume ?? { state: 'new' },
    ...(options.tasks && { tasks: options.tasks }),
  };
}

interface Queue<T> {
  put(item: T): void;
  take(): Promise<T>;
}

function queue<T>(): Queue<T> {
  const items: T[] = [];
  const takers: ((item: T) => void)[] = [];
  return {
    put(item) {
      const taker = takers.shift();
      if (taker) taker(item);
      else items.push(item);
    },
    take() {
      const item = items.shift();
      if (item !== undefined) return Promise.resolve(item);
      return new Promise((resolve) => {
        takers.push(resolve);
      });
    },
  };
}
