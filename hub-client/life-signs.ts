import type { Clock } from '../base/time.ts';

/** What a `task.progress` may say. */
export interface Sign {
  readonly note?: string;
  readonly busy_until?: number;
}

export interface LifeSignOptions {
  readonly clock: Clock;
  /** Shortest time between two signs that say nothing but "alive", ms. */
  readonly everyMs: number;
  readonly send: (sign: Sign) => void;
}

const NOTE_MS = 1000;

/** Turns many small signs of life into few frames: nothing is sent while nothing happens. */
export class LifeSigns {
  readonly #options: LifeSignOptions;
  #sentAt = Number.NEGATIVE_INFINITY;
  #planned: { readonly at: number; cancel(): void } | undefined;
  #note: string | undefined;
  #busyUntil = 0;
  #stopped = false;

  constructor(options: LifeSignOptions) {
    this.#options = options;
  }

  /** Something moved: said now, or with others when the time since the last frame is up. */
  beat(): void {
    this.#plan(this.#options.everyMs);
  }

  /** A call begins that may be quiet until then (ms since epoch); said at once. */
  busy(until: number): void {
    this.#busyUntil = until;
    this.#send({ busy_until: until });
  }

  /** Says again that a call is under way, if one is. */
  repeat(): void {
    if (this.#busyUntil > this.#options.clock.now()) this.busy(this.#busyUntil);
  }

  /** For people who look on; the last one of a second is sent. */
  note(text: string): void {
    this.#note = text.slice(0, 2000);
    this.#plan(NOTE_MS);
  }

  /** Another frame of the task went out, which is as good a sign. */
  spoken(): void {
    this.#sentAt = this.#options.clock.monotonic();
    if (this.#note === undefined) this.#unplan();
  }

  stop(): void {
    this.#stopped = true;
    this.#unplan();
  }

  #plan(pauseMs: number): void {
    const { clock } = this.#options;
    const at = this.#sentAt + pauseMs;
    if (this.#planned && this.#planned.at <= at) return;
    this.#unplan();
    const wait = at - clock.monotonic();
    if (wait > 0) this.#planned = { at, ...clock.after(wait, () => this.#send({})) };
    else this.#send({});
  }

  #unplan(): void {
    this.#planned?.cancel();
    this.#planned = undefined;
  }

  #send(sign: Sign): void {
    this.#unplan();
    if (this.#stopped) return;
    this.#sentAt = this.#options.clock.monotonic();
    const note = this.#note;
    this.#note = undefined;
    this.#options.send(note === undefined ? sign : { ...sign, note });
  }
}
