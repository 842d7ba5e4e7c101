import type { Log } from '../base/log.ts';
import type { Frame, FrameOf, FrameType } from '../protocol/index.ts';

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

/** Frames without a number (nobody sends them again) that wait for the first handler; a client without one drops the rest. */
const MAX_HELD = 1000;

/**
 * Hands frames to their handlers, in order of arrival and without waiting for each other, and acknowledges a mailbox
 * number when the handlers of every frame up to it have settled. Repeats are dropped.
 *
 * Nothing is handed out before the first `on()`, so that a program that registers its handlers in one go misses
 * nothing; from then on a frame without a handler is acknowledged and dropped.
 */
export class Inbox {
  readonly #handlers = new Map<string, Set<AnyHandler>>();
  readonly #acknowledge: (seq: number) => void;
  readonly #onGap: (gap: Gap) => void;
  readonly #log: Log;
  #held: { frame: Frame; delivery: Delivery | undefined }[] | undefined = [];
  #opening = false;
  #open: Delivery[] = [];
  #received = 0;
  #settled = 0;
  #epoch = '';
  #ackPlanned = false;

  constructor(options: { acknowledge: (seq: number) => void; onGap: (gap: Gap) => void; log: Log }) {
    this.#acknowledge = options.acknowledge;
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
    if (!this.#opening) {
      this.#opening = true;
      setImmediate(() => this.#release());
    }
    return () => {
      handlers.delete(own);
    };
  }

  /** A connection begins; `seq` is up to where the hub has this mailbox acknowledged. */
  welcomed(epoch: string, seq: number): void {
    if (this.#epoch !== epoch) {
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
    const delivery = this.#number(frame);
    if (delivery === 'repeat') return;
    if (answered && !this.#handlers.has(frame.type)) this.#settle(delivery);
    else if (!this.#held) this.#handOut(frame, delivery);
    else if (delivery || this.#held.length < MAX_HELD) this.#held.push({ frame, delivery });
  }

  /** Counts a numbered frame as done that nobody could read. */
  skip(seq: number): void {
    const delivery = this.#number({ seq });
    if (delivery !== 'repeat') this.#settle(delivery);
  }

  #number({ seq, prev }: { seq?: number | undefined; prev?: number | undefined }): Delivery | undefined | 'repeat' {
    if (seq === undefined) return undefined;
    if (seq <= this.#received) {
      this.#planAck(); // the hub may have missed the last one
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

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { frame, delivery } of held) this.#handOut(frame, delivery);
  }

  #handOut(frame: Frame, delivery: Delivery | undefined): void {
    const handlers = [...(this.#handlers.get(frame.type) ?? [])];
    if (handlers.length === 0 && delivery) this.#log.debug({ type: frame.type, from: frame.from }, 'no handler');
    const runs = handlers.map(async (handler) => handler(frame));
    void Promise.allSettled(runs).then((outcomes) => {
      for (const outcome of outcomes) {
        // acknowledged all the same: a frame that breaks its handler would come back for ever
        if (outcome.status === 'rejected') this.#log.error({ err: outcome.reason, type: frame.type }, 'handler failed');
      }
      this.#settle(delivery);
    });
  }

  #settle(delivery: Delivery | undefined): void {
    if (!delivery) return;
    delivery.settled = true;
    while (this.#open[0]?.settled) {
      this.#settled = Math.max(this.#settled, this.#open[0].seq);
      this.#open.shift();
      this.#planAck();
    }
  }

  #planAck(): void {
    if (this.#ackPlanned) return;
    this.#ackPlanned = true;
    setImmediate(() => {
      this.#ackPlanned = false;
      if (this.#settled > 0) this.#acknowledge(this.#settled);
    });
  }
}
