import type { MailboxMemory } from './mailbox-memory.ts';
import { Queue } from './queue.ts';
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
  /** Where waiting messages are kept; what finds no room there is read from the log when its turn comes. */
  readonly memory: MailboxMemory;
}

/** Messages, and about the bytes, that are read from the log at once. */
const PAGE = 512;
const PAGE_BYTES = 1024 * 1024;

/** A message handed over and not yet acknowledged. */
interface Inflight {
  readonly lsn: number;
  readonly id: string;
  readonly bytes: number;
  acked: boolean;
}

/** What waits for one name: a cursor into the log, a credit window, and the newest messages in memory. */
export class Mailbox {
  readonly name: string;
  /** Position up to which everything is acknowledged. */
  acked: number;
  /** Messages and bytes behind that position, those on their way into the log included. */
  depth: number;
  bytes: number;
  /** Position of the newest message. */
  last: number;
  /** Whether a message ever was in it, as far as is known. */
  used: boolean;
  readonly #storage: Storage;
  readonly #limits: MailboxLimits;
  #sink: Sink | undefined;
  #windowed = true;
  /** Position of the last message handed to the sink. */
  #sent: number;
  /** The furthest that ever was. */
  #furthest = 0;
  /** What may have been handed over before this process. */
  readonly #before: number;
  /** Acknowledged beyond `#sent`: by a client that had it on an earlier connection. */
  #ahead = 0;
  /** Announced and not yet pushed. */
  #coming = 0;
  readonly #inflight = new Queue<Inflight>();
  #inflightBytes = 0;
  /** Messages after `#sent` without a hole, up to `#readyEnd`. */
  readonly #ready = new Queue<StoredMessage>();
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
    this.used = state.last > state.acked || state.depth > 0;
    this.#before = state.last;
    this.#storage = storage;
    this.#limits = limits;
    this.#sent = state.acked;
    this.#readyEnd = state.acked;
  }

  get inflight(): number {
    return this.#inflight.length;
  }

  /** Starts to empty the mailbox; `windowed` false takes what is handed over for acknowledged. */
  attach(sink: Sink, windowed: boolean): void {
    this.#sink = sink;
    this.#windowed = windowed;
    this.#rewind(this.acked);
    this.feed();
  }

  /** Stops emptying it; what is not acknowledged comes again. */
  detach(): void {
    this.#sink = undefined;
    this.#rewind(this.acked);
  }

  /** Counts a message that is about to be committed, so that the limits hold within a turn, too. */
  announce(bytes: number): void {
    this.#coming += 1;
    this.depth += 1;
    this.bytes += bytes;
  }

  /** Takes a message that was just committed. */
  push(message: StoredMessage): void {
    // What was read from a store that shows a commit before it says that it is done: counted then, or handed over already.
    if (message.lsn <= this.last) return;
    const isRead = message.lsn <= Math.max(this.#sent, this.#readyEnd);
    const contiguous = this.#readyEnd >= this.last || this.#sent >= this.last;
    this.last = message.lsn;
    this.used = true;
    if (this.#coming > 0) this.#coming -= 1;
    else {
      this.depth += 1;
      this.bytes += message.body.length;
    }
    if (isRead || this.#sink === undefined || this.#reading || !contiguous) return;
    if (this.#ready.length === 0 && !this.#sink.full() && this.#hasCredit()) this.#handOver(this.#sink, message);
    else if (this.#limits.memory.take(message.body.length, this.#readyBytes)) this.#keep(owned(message));
  }

  /** Moves the cursor over its first messages: a client has them, or they were given up. Only while it is not attached. */
  pass(messages: readonly StoredMessage[]): void {
    for (const message of messages) if (message.lsn > this.acked) this.#done(message.lsn, message.body.length);
    this.#rewind(this.acked);
  }

  /** Whether this position may have been handed over: by this process, or by one before it. */
  mayHaveSent(seq: number): boolean {
    return seq <= Math.max(this.#sent, this.#furthest, this.#before);
  }

  /** Acknowledges everything up to `seq`; false when that was never sent. */
  ackUpTo(seq: number): boolean {
    if (!this.mayHaveSent(seq)) return false;
    if (seq > this.#sent) this.#ahead = Math.max(this.#ahead, seq);
    for (let item = this.#inflight.first; item !== undefined && item.lsn <= seq; item = this.#inflight.first) {
      this.#settled(item);
    }
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
      this.#limits.memory.give(message.body.length);
      this.#handOver(this.#sink, message);
    }
  }

  #handOver(sink: Sink, message: StoredMessage): void {
    const prev = this.#sent;
    this.#sent = message.lsn;
    const again = message.lsn <= this.#furthest;
    if (!again) this.#furthest = message.lsn;
    if (this.#windowed) this.#track(message);
    else this.#done(message.lsn, message.body.length);
    // The `prev` of the next one tells of the gap.
    if (message.lsn > this.#ahead && !message.damaged) sink.deliver(message, prev, again);
  }

  /** Keeps a message whose room in memory is taken. */
  #keep(message: StoredMessage): void {
    this.#ready.push(message);
    this.#readyBytes += message.body.length;
    this.#readyEnd = message.lsn;
  }

  #hasCredit(): boolean {
    if (!this.#windowed) return true;
    return this.#inflight.length < this.#limits.maxInflight && this.#inflightBytes < this.#limits.maxInflightBytes;
  }

  #track(message: StoredMessage): void {
    const bytes = message.body.length;
    const isAcked = message.lsn <= this.#ahead || message.damaged === true;
    if (isAcked && this.#inflight.length === 0) {
      this.#done(message.lsn, bytes);
      return;
    }
    this.#inflight.push({ lsn: message.lsn, id: message.id, bytes, acked: isAcked });
    this.#inflightBytes += bytes;
  }

  #done(lsn: number, bytes: number): void {
    this.acked = lsn;
    this.depth -= 1;
    this.bytes = this.depth === 0 ? 0 : this.bytes - bytes;
  }

  #settle(): void {
    for (let item = this.#inflight.first; item?.acked; item = this.#inflight.first) this.#settled(item);
    this.feed();
  }

  /** Lets go of the first message under way. */
  #settled({ lsn, bytes }: Inflight): void {
    this.#inflight.shift();
    this.#done(lsn, bytes);
    this.#inflightBytes -= bytes;
  }

  #rewind(from: number): void {
    this.#sent = from;
    this.#readyEnd = from;
    this.#inflight.clear();
    this.#inflightBytes = 0;
    this.#ready.clear();
    this.#limits.memory.give(this.#readyBytes);
    this.#readyBytes = 0;
    this.#reading = false;
  }

  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    const sink = this.#sink;
    const from = this.#sent;
    const upto = this.last;
    this.#storage.mailbox(this.name, from, this.#page()).then(
      (messages) => {
        if (this.#sink !== sink || this.#sent !== from || !this.#reading) return;
        this.#take(messages, upto);
      },
      () => {
        // It is read again at the next chance to feed.
        this.#reading = false;
      },
    );
  }

  /** As many messages of the size of those that wait as make a page. */
  #page(): number {
    const usual = this.depth > 0 ? this.bytes / this.depth : 0;
    return Math.max(1, Math.min(PAGE, Math.floor(PAGE_BYTES / Math.max(1, usual))));
  }

  /** Takes a page that was asked for when `upto` was the newest message: what was pushed since is still to be read. */
  #take(messages: readonly StoredMessage[], upto: number): void {
    this.#reading = false;
    for (const message of messages) {
      this.#limits.memory.force(message.body.length);
      this.#keep(message);
    }
    this.#readyEnd = messages.at(-1)?.lsn ?? upto;
    if (messages.length === 0) this.#sent = upto;
    this.feed();
  }
}

/** A frame lies in what was received with it; one that stays would hold that whole memory. */
function owned(message: StoredMessage): StoredMessage {
  const { body } = message;
  return body.buffer.byteLength <= 2 * body.length ? message : { ...message, body: Buffer.from(body) };
}
