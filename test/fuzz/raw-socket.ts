import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** How a frame is put on the wire; what a WebSocket library would never send included. */
export interface Wire {
  readonly opcode: number;
  readonly payload: Buffer;
  /** Last piece of its message. Default true. */
  readonly fin?: boolean;
  /** The three reserved bits. Default 0. */
  readonly reserved?: number;
  /** Default true, as the protocol demands of clients. */
  readonly masked?: boolean;
  /** A length that is a lie. */
  readonly length?: bigint;
}

/** The bytes of a frame. */
export function encode({ opcode, payload, fin = true, reserved = 0, masked = true, length }: Wire): Buffer {
  const size = length ?? BigInt(payload.length);
  const first = (fin ? 0x80 : 0) | ((reserved & 7) << 4) | opcode;
  const mask = masked ? 0x80 : 0;
  const head =
    size < 126n
      ? Buffer.from([first, mask | Number(size)])
      : size < 65_536n
        ? Buffer.from([first, mask | 126, Number(size >> 8n), Number(size & 255n)])
        : Buffer.from([
            first,
            mask | 127,
            ...Array.from({ length: 8 }, (_, i) => Number((size >> BigInt(56 - 8 * i)) & 255n)),
          ]);
  if (!masked) return Buffer.concat([head, payload]);
  const key = randomBytes(4);
  const body = Buffer.from(payload);
  for (let i = 0; i < body.length; i += 1) body[i] = (body[i] as number) ^ (key[i & 3] as number);
  return Buffer.concat([head, key, body]);
}

/** What the hub said on the wire. */
export interface Heard {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A WebSocket client that sends any bytes at all, and reads what a sound server sends. */
export class RawSocket {
  /** Code that the server closed with; 0 when it just went. Undefined while it is open. */
  closed: number | undefined;
  readonly #socket: Socket;
  readonly #hear: (heard: Heard) => void;
  #pending: Buffer = Buffer.alloc(0);
  #code = 0;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket, hear: (heard: Heard) => void) {
    this.#socket = socket;
    this.#hear = hear;
    socket.on('error', () => undefined); // being cut off is what fuzzing is about
    socket.on('data', (data) => this.#read(data));
    socket.on('close', () => {
      this.closed ??= this.#code;
      this.#wake();
    });
  }

  /** Opens a WebSocket; undefined when the server refuses. */
  static async open(port: number, path: string, hear: (heard: Heard) => void): Promise<RawSocket | undefined> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.setNoDelay(true);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    );
    let head = Buffer.alloc(0);
    while (head.indexOf('\r\n\r\n') === -1) {
      const [data] = (await once(socket, 'data')) as [Buffer];
      head = Buffer.concat([head, data]);
    }
    if (!head.toString('latin1').startsWith('HTTP/1.1 101')) {
      socket.destroy();
      return undefined;
    }
    const raw = new RawSocket(socket, hear);
    raw.#read(head.subarray(head.indexOf('\r\n\r\n') + 4));
    return raw;
  }

  write(bytes: Buffer): void {
    if (this.closed === undefined && this.#socket.writable) this.#socket.write(bytes);
  }

  /** Waits for the next thing that comes, be it the end; false when nothing comes within `ms`. */
  async next(ms: number): Promise<boolean> {
    if (this.closed !== undefined) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** Ends it without a word. */
  async destroy(): Promise<void> {
    if (this.#socket.closed) return;
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }

  #read(data: Buffer): void {
    this.#pending = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    for (let frame = this.#take(); frame !== undefined; frame = this.#take()) {
      if (frame.opcode === 8) {
        this.#code = frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005;
        this.#socket.end(encode({ opcode: 8, payload: frame.payload }));
      }
      if (frame.opcode === 9) this.write(encode({ opcode: 10, payload: frame.payload }));
      this.#hear(frame);
    }
    this.#wake();
  }

  #take(): Heard | undefined {
    const bytes = this.#pending;
    if (bytes.length < 2) return undefined;
    const short = (bytes[1] as number) & 127;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < head) return undefined;
    const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (bytes.length < head + size) return undefined;
    this.#pending = bytes.subarray(head + size);
    return { opcode: (bytes[0] as number) & 15, payload: bytes.subarray(head, head + size) };
  }
}
