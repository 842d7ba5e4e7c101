import type { Clock } from '../base/time.ts';

/** Messages after which an acknowledgement goes out at the end of the turn. */
const MOST = 16;

/** An acknowledgement waits at most so long for others, ms. */
const LONGEST = 200;

/** Decides when to acknowledge: cumulative, so seldom, and at most once a turn; at once after a pause. */
export class Acks {
  readonly #clock: Clock;
  readonly #send: () => void;
  #owed = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #planned = false;
  #timer: { cancel(): void } | undefined;

  constructor(clock: Clock, send: () => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** One message more is done with. */
  owe(): void {
    this.#owed += 1;
    if (this.#planned) return;
    const wait = LONGEST - (this.#clock.monotonic() - this.#sentAt);
    if (this.#owed >= MOST || wait <= 0) {
      this.#planned = true;
      setImmediate(() => this.flush());
    } else this.#timer ??= this.#clock.after(wait, () => this.flush());
  }

  /** Sends what is owed now. */
  flush(): void {
    if (this.#owed === 0) return;
    this.forget();
    this.#sentAt = this.#clock.monotonic();
    this.#send();
  }

  /** The hub has heard by other means. */
  forget(): void {
    this.#owed = 0;
    this.#planned = false;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
