import type { Storage, StoredMessage } from './storage.ts';

/** Where a mailbox is emptied to: one connection. */
export interface Sink {
  /** Hands one message over; `prev` is the number before it in this mailbox, `again` says that it was handed over before. */
  deliver(message: StoredMessage, prev: number, again: boolean): void;
  /** Whether its buffer has no room; the mailbox is fed again when it has. */
  full(): boolean;
}

/** How much may be under way unacknowledged (none: the sink's buffer is the only bound) and kept in memory. */
export interface MailboxLimits {
  readonly maxInflight: number;
  readonly maxInflightBytes: number;
  /** Bytes of waiting messages kept in memory; the rest is read from the log when its turn comes. */
  readonly memory: number;
}

/** Messages read from the log at once. */
const PAGE = 64;

/** What waits for one name: a cursor into the log, a credit window, and the newest messages in memory. */
export class Mailbox {
  readonly name: string;
  /** Position up to which everything is acknowledged. */
  acked: number;
  /** Messages and bytes behind that position. */
  depth: number;
  bytes: number;
  /** Position of the newest message. */
  last: number;
  readonly #storage: Storage;
  readonly #limits: MailboxLimits;
  #sink: Sink | undefined;
  #windowed = true;
  /** Position of the last message handed to the sink. */
  #sent: number;
  /** The furthest that ever was. */
  #furthest = 0;
  #inflight: { readonly lsn: number; readonly id: string; readonly bytes: number; acked: boolean }[] = [];
  #inflightBytes = 0;
  /** Messages after `#sent` without a hole, up to `#readyEnd`. */
  #ready: StoredMessage[] = [];
  #readyBytes = 0;
  #readyEnd: number;
  #reading = false;

  constructor(
    name: string,
    state: { acked: number; depth: number; bytes: number; last: number },
    storage: Storage,
    limits: MailboxLimits,
  ) {
    this.name = name;
    this.acked = state.acked;
    this.depth = state.depth;
    this.bytes = state.bytes;
    this.last = state.last;
    this.#storage = storage;
    this.#limits = limits;
    this.#sent = state.acked;
    this.#readyEnd = state.acked;
  }

  get inflight(): number {
    return this.#inflight.length;
  }

  /** Starts to empty the mailbox after position `from`; `windowed` false needs no acknowledgement. */
  attach(sink: Sink, from: number, windowed: boolean): void {
    this.#sink = sink;
    this.#windowed = windowed;
    this.#rewind(from);
    this.feed();
  }

  /** Stops emptying it; what is not acknowledged comes again. */
  detach(): void {
    this.#sink = undefined;
    this.#rewind(this.acked);
  }

  /** Takes a message that was just committed. */
  push(message: StoredMessage): void {
    const contiguous = this.#readyEnd >= this.last || this.#sent >= this.last;
    this.last = message.lsn;
    this.depth += 1;
    this.bytes += message.body.length;
    if (this.#sink === undefined || this.#reading || !contiguous) return;
    if (this.#readyBytes + message.body.length <= this.#limits.memory || this.#ready.length === 0) {
      this.#ready.push(message);
      this.#readyBytes += message.body.length;
      this.#readyEnd = message.lsn;
    }
    this.feed();
  }

  /** Takes a client's word, on resume, that it has everything up to `seq`; `left` is what lies behind it. */
  jump(seq: number, left: { readonly depth: number; readonly bytes: number }): void {
    this.acked = seq;
    this.depth = left.depth;
    this.bytes = left.bytes;
    this.#rewind(seq);
  }

  /** Acknowledges everything up to `seq`; false when that was never sent. */
  ackUpTo(seq: number): boolean {
    if (seq > this.#sent) return false;
    for (const item of this.#inflight) if (item.lsn <= seq) item.acked = true;
    this.#settle();
    return true;
  }

  /** Acknowledges single messages, in any order. */
  ackIds(ids: readonly string[]): void {
    const wanted = new Set(ids);
    for (const item of this.#inflight) if (wanted.has(item.id)) item.acked = true;
    this.#settle();
  }

  /** Hands over what credit and buffer allow. */
  feed(): void {
    while (this.#sink !== undefined && !this.#sink.full() && this.#hasCredit()) {
      const message = this.#ready.shift();
      if (message === undefined) {
        if (this.#sent < this.last) this.#read();
        return;
      }
      this.#readyBytes -= message.body.length;
      const prev = this.#sent;
      this.#sent = message.lsn;
      const again = message.lsn <= this.#furthest;
      this.#furthest = Math.max(this.#furthest, message.lsn);
      if (this.#windowed) this.#track(message);
      this.#sink.deliver(message, prev, again);
    }
  }

  #hasCredit(): boolean {
    if (!this.#windowed) return true;
    return this.#inflight.length < this.#limits.maxInflight && this.#inflightBytes < this.#limits.maxInflightBytes;
  }

  #track(message: StoredMessage): void {
    this.#inflight.push({ lsn: message.lsn, id: message.id, bytes: message.body.length, acked: false });
    this.#inflightBytes += message.body.length;
  }

  #settle(): void {
    while (this.#inflight[0]?.acked) {
      const item = this.#inflight.shift();
      if (item === undefined) break;
      this.acked = item.lsn;
      this.depth -= 1;
      this.bytes -= item.bytes;
      this.#inflightBytes -= item.bytes;
    }
    this.feed();
  }

  #rewind(from: number): void {
    this.#sent = from;
    this.#readyEnd = from;
    this.#inflight = [];
    this.#inflightBytes = 0;
    this.#ready = [];
    this.#readyBytes = 0;
    this.#reading = false;
  }

  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    const sink = this.#sink;
    const from = this.#sent;
    this.#storage.mailbox(this.name, from, PAGE).then(
      (messages) => {
        if (this.#sink !== sink || this.#sent !== from || !this.#reading) return;
        this.#take(messages);
      },
      () => {
        // It is read again at the next chance to feed.
        this.#reading = false;
      },
    );
  }

  #take(messages: readonly StoredMessage[]): void {
    this.#reading = false;
    this.#ready = [...messages];
    this.#readyBytes = messages.reduce((sum, message) => sum + message.body.length, 0);
    this.#readyEnd = messages.at(-1)?.lsn ?? this.last;
    if (messages.length === 0) this.#sent = this.last;
    this.feed();
  }
}
