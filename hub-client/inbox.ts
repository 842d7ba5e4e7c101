import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import type { Frame, FrameOf, FrameType } from '../protocol/index.ts';
import { Acks } from './acks.ts';

export type Handler<T extends FrameType> = (frame: FrameOf<T>) => void | Promise<void>;
type AnyHandler = (frame: Frame) => void | Promise<void>;

/** Frames that the hub numbered and does not send again once they are acknowledged. */
interface Delivery {
  readonly seq: number;
  settled: boolean;
}

/** Numbers that are missing in the mailbox; what they carried is in the log at most. */
export interface Gap {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly reason: string;
}

/** A frame that waits for its first handler. */
interface Held {
  readonly frame: Frame;
  readonly delivery: Delivery | undefined;
}

/** Frames that may wait for a handler; half of what the hub sends without acknowledgement, so that it goes on sending. */
const MAX_HELD = 16;

/** How long a program may take to its first handler, ms. Until then everything waits: a whole window may come with the welcome. */
const FIRST_HANDLER_MS = 10_000;

/**
 * Hands frames to their handlers, in order of arrival and without waiting for each other, and acknowledges a mailbox
 * number when the handlers of every frame up to it have settled. Repeats are dropped.
 *
 * A numbered frame (or an offer of a task) whose type never had a handler waits for one, so that a program may take its
 * time to get ready; when too many wait once it has a first handler, the oldest is acknowledged and dropped.
 */
export class Inbox {
  readonly #handlers = new Map<string, Set<AnyHandler>>();
  readonly #onGap: (gap: Gap) => void;
  readonly #log: Log;
  readonly #clock: Clock;
  /** The program takes frames, or had its time: what nobody takes now is not wanted. */
  #attended = false;
  #held: Held[] = [];
  #releasing = false;
  #open: Delivery[] = [];
  #received = 0;
  #settled = 0;
  #epoch = '';
  readonly #acks: Acks;
  /** Handlers that have not settled. */
  #running = 0;
  #closing = false;
  #idle: (() => void)[] = [];

  constructor(options: { acknowledge: (seq: number) => void; onGap: (gap: Gap) => void; log: Log; clock: Clock }) {
    this.#clock = options.clock;
    this.#acks = new Acks(options.clock, () => {
      if (this.#settled > 0) options.acknowledge(this.#settled);
    });
    this.#onGap = options.onGap;
    this.#log = options.log;
  }

  /** Up to which number all is done: where a new connection goes on. */
  get position(): number {
    return this.#settled;
  }

  on<T extends FrameType>(type: T, handler: Handler<T>): () => void {
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers);
    const own: AnyHandler = (frame) => handler(frame as FrameOf<T>);
    handlers.add(own);
    if (!this.#releasing) {
      this.#releasing = true;
      setImmediate(() => this.#release());
    }
    return () => {
      handlers.delete(own);
    };
  }

  /** Says now how far all is done, if the hub does not know yet. */
  flush(): void {
    this.#acks.flush();
  }

  /**
   * A connection begins; `seq` is up to where the hub has this mailbox acknowledged, `end` the last number that it can have
   * used: one before what was received here means that the hub started with an older state of its log.
   */
  welcomed(epoch: string, seq: number, end = Number.POSITIVE_INFINITY): void {
    this.#acks.forget();
    if (this.#epoch === '') this.#clock.after(FIRST_HANDLER_MS, () => this.#attend());
    if (this.#epoch !== epoch || Math.max(seq, end) < this.#received) {
      // numbers mean nothing across epochs: the hub started with another log
      this.#received = 0;
      this.#settled = 0;
      this.#open = [];
    }
    this.#epoch = epoch;
    this.#received = Math.max(this.#received, seq);
    this.#settled = Math.max(this.#settled, seq);
  }

  /** Takes a frame in. `answered`: somebody waited for just this one and has it, so handlers are optional. */
  receive(frame: Frame, answered = false): void {
    if (this.#closing) return;
    const delivery = this.#number(frame);
    if (delivery === 'repeat') return;
    const claimed = this.#handlers.has(frame.type);
    if (claimed && !this.#releasing) this.#handOut({ frame, delivery });
    else if (answered && !claimed) this.#settle(delivery);
    else if (claimed || delivery || frame.type === 'task.assign') this.#held.push({ frame, delivery });
    this.#makeRoom();
  }

  /** Takes nothing more in; what comes now comes again to the next client of this name. Resolves when every handler has settled. */
  close(): Promise<void> {
    this.#closing = true;
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
    });
  }

  /** Counts a numbered frame as done that nobody could read. */
  skip(seq: number): void {
    const delivery = this.#number({ seq });
    if (delivery !== 'repeat') this.#settle(delivery);
  }

  #number({ seq, prev }: { seq?: number | undefined; prev?: number | undefined }): Delivery | undefined | 'repeat' {
    if (seq === undefined) return undefined;
    if (seq <= this.#received) {
      this.#acks.owe(); // the hub may have missed the last one
      return 'repeat';
    }
    if (this.#received > 0 && prev !== undefined && prev > this.#received) {
      this.#onGap({ from: this.#received, to: prev, reason: 'the hub skipped mailbox numbers' });
    }
    this.#received = seq;
    const delivery = { seq, settled: false };
    this.#open.push(delivery);
    return delivery;
  }

  /** Drops the oldest that nobody handles when too many wait, or too much waits behind it to be acknowledged. */
  #makeRoom(): void {
    if (!this.#attended) return;
    while (this.#held.length > MAX_HELD || this.#open.length > MAX_HELD) {
      const index = this.#held.findIndex(({ frame }) => !this.#handlers.has(frame.type));
      const [oldest] = index < 0 ? [] : this.#held.splice(index, 1);
      if (!oldest) return; // the rest is with its handlers, or will be in a moment
      this.#log.info({ type: oldest.frame.type, from: oldest.frame.from }, 'nobody handles this; dropped');
      this.#settle(oldest.delivery);
    }
  }

  #release(): void {
    this.#releasing = false;
    const held = this.#held;
    this.#held = held.filter(({ frame }) => !this.#handlers.has(frame.type));
    for (const item of held) if (this.#handlers.has(item.frame.type)) this.#handOut(item);
    this.#attend();
  }

  #attend(): void {
    this.#attended = true;
    this.#makeRoom();
  }

  #handOut({ frame, delivery }: Held): void {
    const handlers = [...(this.#handlers.get(frame.type) ?? [])];
    const runs = handlers.map(async (handler) => handler(frame));
    this.#running += 1;
    void Promise.allSettled(runs).then((outcomes) => {
      for (const outcome of outcomes) {
        // acknowledged all the same: a frame that breaks its handler would come back for ever
        if (outcome.status === 'rejected') this.#log.error({ err: outcome.reason, type: frame.type }, 'handler failed');
      }
      this.#settle(delivery);
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
    });
  }

  #settle(delivery: Delivery | undefined): void {
    if (!delivery) return;
    delivery.settled = true;
    while (this.#open[0]?.settled) {
      this.#settled = Math.max(this.#settled, this.#open[0].seq);
      this.#open.shift();
      this.#acks.owe();
    }
  }
}
