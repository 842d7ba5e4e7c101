import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import { CloseCode } from '../protocol/index.ts';
import { errorFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import { decode, type Unreadable } from './decode.ts';
import type { HubLimits } from './options.ts';
import { Bucket, Tally } from './rate.ts';
import type { Router } from './router.ts';

/** Window in which bad frames are counted, ms. */
const BAD_WINDOW = 10_000;

/** Takes what one connection sends: in order, at the allowed rate, and without trusting any of it. */
export class Reader {
  readonly #connection: Connection;
  readonly #router: Router;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: HubLimits;
  /** Made for the first bad frame. */
  #bad: Tally | undefined;
  /** What may still be read; undefined while there is no limit. */
  readonly #allowed: { readonly messages: Bucket; readonly bytes: Bucket } | undefined;
  readonly #waiting: { data: Buffer; isBinary: boolean }[] = [];
  #busy = false;
  #pause: { cancel(): void } | undefined;
  #complainedAt = Number.NEGATIVE_INFINITY;

  constructor(connection: Connection, router: Router, parts: { clock: Clock; limits: HubLimits; log: Log }) {
    const { clock, limits, log } = parts;
    this.#log = log;
    this.#connection = connection;
    this.#router = router;
    this.#clock = clock;
    this.#limits = limits;
    if (limits.rate === 0) return;
    const now = clock.monotonic();
    this.#allowed = {
      messages: new Bucket(limits.rate, limits.burst, now),
      bytes: new Bucket(limits.bytesPerSecond, limits.bytesPerSecond, now),
    };
  }

  /** Takes one frame; it waits while an earlier one of the same connection is still being handled. */
  read(data: Buffer, isBinary: boolean): void {
    this.#connection.heard += 1;
    if (this.#allowed !== undefined) this.#slowDown(data.length, this.#allowed);
    if (this.#busy) this.#waiting.push({ data, isBinary });
    else this.#handle(data, isBinary);
  }

  #handle(data: Buffer, isBinary: boolean): void {
    const connection = this.#connection;
    if (!connection.open) return;
    connection.received += 1;
    try {
      const pending = this.#take(data, isBinary);
      if (pending !== undefined) void this.#finish(pending);
    } catch (error) {
      this.#apologise(error);
    }
  }

  #take(data: Buffer, isBinary: boolean): Promise<void> | undefined {
    const connection = this.#connection;
    const decoded = decode(data, isBinary, connection.level, this.#limits);
    if ('code' in decoded) {
      connection.metrics.framesIn.add('unreadable');
      this.#complain(decoded);
      return undefined;
    }
    connection.metrics.framesIn.add(decoded.frame.type);
    return this.#router.handle(connection, decoded);
  }

  /** Waits for a frame that takes longer, then goes on with those that came meanwhile. */
  async #finish(pending: Promise<void>): Promise<void> {
    this.#busy = true;
    await pending.catch((error: unknown) => this.#apologise(error));
    this.#busy = false;
    while (!this.#busy) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#handle(next.data, next.isBinary);
    }
  }

  /** A fault of the hub's own ends one frame and nothing else. */
  #apologise(error: unknown): void {
    this.#log.error({ err: error, name: this.#connection.name }, 'a frame could not be handled');
    this.#connection.send(errorFrame(this.#connection.name, 'internal', 'the hub failed at this frame'));
    this.#connection.owe();
  }

  #complain({ code, message, ref, refType }: Unreadable): void {
    const connection = this.#connection;
    connection.send(errorFrame(connection.name, code, message, { ref, refType }));
    connection.owe();
    this.#bad ??= new Tally(this.#limits.badFrames, BAD_WINDOW);
    if (this.#bad.add(this.#clock.monotonic())) connection.close(CloseCode.tooManyErrors, 'too many bad frames');
  }

  /** Stops reading until the sender is within its rate again: the rest waits in its own buffers. */
  #slowDown(size: number, { messages, bytes }: { messages: Bucket; bytes: Bucket }): void {
    const now = this.#clock.monotonic();
    const wait = Math.max(messages.take(1, now), bytes.take(size, now));
    if (wait === 0) return;
    this.#connection.hold('rate');
    this.#pause?.cancel();
    this.#pause = this.#clock.after(wait, () => this.#connection.release('rate'));
    if (now - this.#complainedAt < 1000) return;
    this.#complainedAt = now;
    const message = `more than ${this.#limits.rate} frames a second; the rest is read later`;
    this.#connection.send(errorFrame(this.#connection.name, 'rate_limited', message, { retryAfterMs: wait }));
  }
}
