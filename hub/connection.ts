import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Admission } from './accept.ts';
import { hubFrame } from './answers.ts';
import type { Metrics } from './metrics.ts';
import type { StoredMessage } from './storage.ts';
import type { Flushable, Turn } from './turn.ts';
import { FrameBuffer } from './ws-frames.ts';

/** Why reading is stopped: frames that were read have to wait, or the peer does not read what it is told. */
type HoldReason = 'order' | 'buffer';

/** A socket with what Node keeps of it for itself: how much the system has not taken yet. */
type Stream = Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };

/** What is to be said of a turn's frames once they are committed. */
interface Debt {
  readonly turn: object;
  upto: number;
  readonly duplicates: string[];
}

/** One socket: what it said so far, what it is about to be told. Knows frames as text, and nothing of agents or tasks. */
export class Connection implements Flushable {
  readonly admission: Admission;
  readonly socket: WebSocket;
  readonly metrics: Metrics;
  /** Frames received so far, bad ones included: what `accepted.upto` counts. */
  received = 0;
  level: 0 | 1 = 0;
  /** Called after everything was handed to the socket. */
  onFlush: () => void = () => undefined;
  /** Ends the connection when no hello comes. */
  deadline: { cancel(): void } | undefined;
  /** Signs of life so far: frames and pongs. Counted, since asking for the time costs more than all else that a frame's reading does with it. */
  heard = 0;
  /** Frames that were read and wait to be handled, in bytes. */
  backlog = 0;
  /** Whether its hello is being answered: what is said to it meanwhile comes after the answer. */
  greeting = false;
  readonly #afterGreeting: (() => void)[] = [];
  /** Whether it is read though reading is stopped, so that a sign of life can be heard. */
  #listening = false;
  /** What every `accepted` begins with, once there was one. */
  #acceptedHead: string | undefined;
  readonly #stream: Socket;
  readonly #turn: Turn;
  #holds: readonly HoldReason[] = [];
  readonly #outbox = new FrameBuffer();
  /** Whether this turn flushes it already. */
  #touched = false;
  #debt: Debt | undefined;
  /** Who waits for the next flush. */
  readonly #handed: (() => void)[] = [];
  #closing: { code: number; reason: string; now: boolean } | undefined;

  constructor(admission: Admission, socket: WebSocket, stream: Socket, turn: Turn) {
    this.admission = admission;
    this.socket = socket;
    this.metrics = turn.metrics;
    this.#stream = stream;
    this.#turn = turn;
  }

  get name(): string {
    return this.admission.name;
  }

  /** Whether frames can still be said to it. */
  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN && this.#closing === undefined;
  }

  /** Whether the hub closes it. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** Bytes that wait in memory for the peer to read. */
  get queued(): number {
    return this.#stream.writableLength + this.#outbox.bytes;
  }

  /** Says a frame, of the hub's own unless `type` names another, at the end of this turn; dropped when the connection is ending. */
  send(text: string, type?: string): void {
    if (!this.open) return;
    if (this.greeting) {
      this.#afterGreeting.push(() => this.send(text, type));
      return;
    }
    this.metrics.said(text, type);
    this.#outbox.text(text);
    this.#touch();
  }

  /** Says a logged frame with keys added before its closing brace, and something before it; both of ASCII only. */
  sendLogged(message: StoredMessage, keys: string, before = ''): void {
    if (!this.open) return;
    if (this.greeting) {
      this.#afterGreeting.push(() => this.sendLogged(message, keys, before));
      return;
    }
    const { body, type } = message;
    this.metrics.framesOut.add(before === '' ? type : 'event');
    this.#outbox.around(before, body, keys);
    this.#touch();
  }

  /** Answers its hello, before all that was said to it meanwhile. */
  greet(text: string): void {
    this.greeting = false;
    this.send(text);
    for (const say of this.#afterGreeting.splice(0)) say();
  }

  /** Promises an `accepted` for everything received so far, after this turn's commit; `duplicate` was taken before. */
  owe(duplicate?: string): void {
    if (this.level === 0) return;
    if (this.#debt?.turn !== this.#turn.current) {
      const debt: Debt = { turn: this.#turn.current, upto: 0, duplicates: [] };
      this.#debt = debt;
      this.#turn.after(() => this.#accept(debt));
    }
    this.#debt.upto = this.received;
    if (duplicate !== undefined) this.#debt.duplicates.push(duplicate);
  }

  /** Closes after what was said before, and after the frames of this turn are committed and accepted. Nothing else is said any more. */
  close(code: number, reason: string): void {
    if (this.#closing !== undefined) return;
    const closing = { code, reason, now: false };
    this.#closing = closing;
    this.#turn.after(() => {
      closing.now = true;
      this.#touch();
    });
  }

  /** Stops reading from the socket for one reason; it is read again when no reason is left. */
  hold(reason: HoldReason): void {
    if (this.#holds.includes(reason)) return;
    this.#holds = [...this.#holds, reason];
    if (!this.#listening) this.socket.pause();
  }

  release(reason: HoldReason): void {
    if (!this.#holds.includes(reason)) return;
    this.#holds = this.#holds.filter((other) => other !== reason);
    if (this.#holds.length === 0) this.socket.resume();
  }

  /** Has it read, for a sign of life, though reading is stopped: what comes waits. */
  listen(on: boolean): void {
    this.#listening = on;
    if (this.#holds.length === 0) return;
    if (on) this.socket.resume();
    else this.socket.pause();
  }

  /** Whether its peer has something to read; `mark` is another number once the peer has taken any of it. */
  get unread(): { readonly some: boolean; readonly mark: number } {
    const { writableLength, bytesWritten, _handle: handle } = this.#stream as Stream;
    // Node counts only whole writes as done; what a peer takes of a large one shows in the handle alone.
    return { some: writableLength > 0, mark: bytesWritten - writableLength - (handle?.writeQueueSize ?? 0) };
  }

  /** Whether reading is stopped, so that silence is not the peer's fault. */
  get held(): boolean {
    return this.#holds.length > 0;
  }

  /** Whether reading is stopped for this reason. */
  holds(reason: HoldReason): boolean {
    return this.#holds.includes(reason);
  }

  /** Resolves when everything that was said so far has been handed to the socket. */
  handedOver(): Promise<void> {
    if (!this.#touched) return Promise.resolve();
    return new Promise((resolve) => {
      this.#handed.push(resolve);
    });
  }

  /** Closes and does not wait for an answer. */
  cut(code: number, reason: string): void {
    this.#closing ??= { code, reason, now: true };
    this.socket.close(code, reason);
    this.socket.terminate();
  }

  /** Ends a socket that does not answer any more. */
  terminate(): void {
    this.socket.terminate();
  }

  flush(): void {
    this.#touched = false;
    const chunks = this.#outbox.take();
    // Straight to the stream: control frames of `ws` go there, too, at once and in the order of the calls.
    if (this.socket.readyState === this.socket.OPEN) write(this.#stream, chunks);
    this.onFlush();
    for (const resolve of this.#handed.splice(0)) resolve();
    if (!this.#closing?.now) return;
    this.socket.close(this.#closing.code, this.#closing.reason);
    // The peer's answer comes behind what it had sent before.
    this.socket.resume();
  }

  #touch(): void {
    if (this.#touched) return;
    this.#touched = true;
    this.#turn.touch(this);
  }

  /** Said also by a connection that is about to close: what was taken from a peer that says goodbye is not to be sent again. */
  #accept(debt: Debt): void {
    const { upto, duplicates } = debt;
    // A debt that is paid would hold the messages of its turn.
    if (this.#debt === debt) this.#debt = undefined;
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.#acceptedHead ??= hubFrame('accepted', this.name, { upto: 0 }).slice(0, -'0}}'.length);
    const text =
      duplicates.length > 0 ? hubFrame('accepted', this.name, { upto, duplicates }) : `${this.#acceptedHead}${upto}}}`;
    this.metrics.said(text, 'accepted');
    this.#outbox.text(text);
    this.#touch();
  }
}

/** Much is written corked, also one chunk: only a stream that takes it for too much says `drain` later. */
function write(stream: Duplex, chunks: readonly Buffer[]): void {
  const [first] = chunks;
  if (first === undefined) return;
  if (chunks.length === 1 && first.length < stream.writableHighWaterMark) {
    stream.write(first);
    return;
  }
  stream.cork();
  for (const chunk of chunks) stream.write(chunk);
  stream.uncork();
}
