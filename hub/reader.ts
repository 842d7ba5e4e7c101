import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import { CloseCode, type FrameType } from '../protocol/index.ts';
import { errorFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import { decode, type Unreadable } from './decode.ts';
import type { HubLimits } from './options.ts';
import { Queue } from './queue.ts';
import { Bucket, Tally } from './rate.ts';
import type { Router } from './router.ts';

/** Window in which bad frames are counted, ms. */
const BAD_WINDOW = 10_000;

/** What is of use only to whoever hears the answer. */
const questions: ReadonlySet<FrameType> = new Set(['ping', 'who', 'tasks', 'log', 'watch']);

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
  /** Frames that were read and cannot be handled yet: what one read of the socket brought, since no more is read meanwhile. */
  readonly #waiting = new Queue<{ data: Buffer; isBinary: boolean }>();
  /** A frame is still being handled. */
  #busy = false;
  /** Runs while the first of those that wait is too early. */
  #pause: { cancel(): void } | undefined;
  /** Whether the first of those that wait is counted in its sender's rate. */
  #counted = false;
  /** What follows when all is handled; there once the peer is gone. */
  #ended: (() => void) | undefined;
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

  /** Takes one frame; it waits while an earlier one waits or is still being handled, while it is too early, and while the peer does not read. */
  read(data: Buffer, isBinary: boolean): void {
    const connection = this.#connection;
    connection.heard += 1;
    // Whatever waits holds the connection.
    if (!this.#busy && !connection.held && !this.#isEarly(data.length)) this.#handle(data, isBinary);
    else if (!connection.isClosing) {
      this.#waiting.push({ data, isBinary });
      connection.backlog += data.length;
      connection.hold('order');
    }
  }

  /** Handles what waits, as far as it may be now. Called when the peer has read what it was told, too. */
  goOn(): void {
    const connection = this.#connection;
    const isOver = this.#ended !== undefined;
    while (!this.#busy && this.#pause === undefined) {
      const next = this.#waiting.first;
      if (next === undefined) {
        connection.release('order');
        this.#ended?.();
        this.#ended = undefined;
        return;
      }
      if (!isOver && (connection.holds('buffer') || (!this.#counted && this.#isEarly(next.data.length)))) return;
      this.#counted = false;
      this.#waiting.shift();
      connection.backlog -= next.data.length;
      this.#handle(next.data, next.isBinary);
    }
  }

  /**
   * The peer is gone. What it had said is handled at once, since it may not be sent again, unless the hub closed on it;
   * then `done` is called.
   */
  end(done: () => void): void {
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#ended = done;
    this.goOn();
  }

  #handle(data: Buffer, isBinary: boolean): void {
    const connection = this.#connection;
    if (connection.isClosing) return;
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
    const { type } = decoded.frame;
    connection.metrics.framesIn.add(type);
    // Nobody is there to hear the answer.
    if (this.#ended !== undefined && questions.has(type)) return undefined;
    return this.#router.handle(connection, decoded);
  }

  /** Waits for a frame that takes longer, then goes on with those that came meanwhile. */
  async #finish(pending: Promise<void>): Promise<void> {
    this.#busy = true;
    await pending.catch((error: unknown) => this.#apologise(error));
    this.#busy = false;
    this.goOn();
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

  /** Counts a frame in its sender's rate. One that comes too early has to wait, and so has all that comes after it. */
  #isEarly(size: number): boolean {
    if (this.#allowed === undefined) return false;
    const { messages, bytes } = this.#allowed;
    const now = this.#clock.monotonic();
    const wait = Math.max(messages.take(1, now), bytes.take(size, now));
    if (wait === 0) return false;
    this.#counted = true;
    this.#pause = this.#clock.after(wait, () => {
      this.#pause = undefined;
      this.goOn();
    });
    this.#tellOfRate(now, wait);
    return true;
  }

  #tellOfRate(now: number, wait: number): void {
    if (now - this.#complainedAt < 1000) return;
    this.#complainedAt = now;
    const message = `more than ${this.#limits.rate} frames a second; the rest is read later`;
    this.#connection.send(errorFrame(this.#connection.name, 'rate_limited', message, { retryAfterMs: wait }));
  }
}
