/** A bucket that refills with time: `perSecond` units, at most `burst` at once. Starts full. */
export class Bucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #level: number;
  #at: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#level = burst;
    this.#at = now;
  }

  /** Takes `units` and returns how many ms to wait until the bucket is out of debt; 0 = go on. */
  take(units: number, now: number): number {
    this.#level = Math.min(this.#burst, this.#level + ((now - this.#at) / 1000) * this.#perSecond) - units;
    this.#at = now;
    // What sums of fractions are off by is no debt.
    return this.#level >= 0 ? 0 : Math.ceil((-this.#level / this.#perSecond) * 1000 - 1e-6);
  }

  /** Takes `units` only when they are there, else returns how many ms to wait for them. */
  tryTake(units: number, now: number): number {
    const wait = this.take(units, now);
    if (wait > 0) this.#level += units;
    return wait;
  }
}

/** Counts events and tells when more than `most` of them fell into `windowMs`. */
export class Tally {
  readonly #most: number;
  readonly #windowMs: number;
  readonly #times: number[] = [];

  constructor(most: number, windowMs: number) {
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** Adds one event; true when there are `most` or more within the window. */
  add(now: number): boolean {
    this.#times.push(now);
    while (this.#times.length > this.#most) this.#times.shift();
    return this.#times.length === this.#most && now - (this.#times[0] as number) <= this.#windowMs;
  }
}
