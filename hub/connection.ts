import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Admission } from './accept.ts';
import { hubFrame } from './answers.ts';
import type { Metrics } from './metrics.ts';
import type { Flushable, Turn } from './turn.ts';

/** Why reading is stopped: the peer sends too fast, or does not read what it is told. */
type HoldReason = 'rate' | 'buffer';

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
  /** When the peer was last heard, monotonic ms. */
  lastHeard = 0;
  readonly #stream: Duplex;
  readonly #turn: Turn;
  readonly #holds = new Set<HoldReason>();
  readonly #outbox: string[] = [];
  #outboxBytes = 0;
  #debt: Debt | undefined;
  #closing: { code: number; reason: string } | undefined;

  constructor(admission: Admission, socket: WebSocket, stream: Duplex, turn: Turn) {
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

  /** Bytes that wait in memory for the peer to read. */
  get queued(): number {
    return this.socket.bufferedAmount + this.#outboxBytes;
  }

  /** Says a frame, of the hub's own unless `type` names another, at the end of this turn; dropped when the connection is ending. */
  send(text: string, type?: string): void {
    if (!this.open) return;
    this.metrics.said(text, type);
    this.#outbox.push(text);
    this.#outboxBytes += text.length;
    this.#turn.touch(this);
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

  /** Closes after what was said before. */
  close(code: number, reason: string): void {
    this.#closing ??= { code, reason };
    this.#turn.touch(this);
  }

  /** Stops reading from the socket for one reason; it is read again when no reason is left. */
  hold(reason: HoldReason): void {
    this.#holds.add(reason);
    this.socket.pause();
  }

  release(reason: HoldReason): void {
    if (this.#holds.delete(reason) && this.#holds.size === 0) this.socket.resume();
  }

  /** Whether reading is stopped, so that silence is not the peer's fault. */
  get held(): boolean {
    return this.#holds.size > 0;
  }

  /** Closes and does not wait for an answer. */
  cut(code: number, reason: string): void {
    this.socket.close(code, reason);
    this.socket.terminate();
  }

  /** Ends a socket that does not answer any more. */
  terminate(): void {
    this.socket.terminate();
  }

  flush(): void {
    if (this.socket.readyState === this.socket.OPEN && this.#outbox.length > 0) {
      this.#stream.cork();
      for (const text of this.#outbox) this.socket.send(text);
      this.#stream.uncork();
    }
    this.#outbox.length = 0;
    this.#outboxBytes = 0;
    this.onFlush();
    if (this.#closing !== undefined) this.socket.close(this.#closing.code, this.#closing.reason);
  }

  #accept({ upto, duplicates }: Debt): void {
    const payload = { upto, ...(duplicates.length > 0 && { duplicates }) };
    this.send(hubFrame('accepted', this.name, payload));
  }
}
