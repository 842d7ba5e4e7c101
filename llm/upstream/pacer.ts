import { sleep } from '../../base/time.ts';
import { UpstreamError } from './errors.ts';
import { resetWait } from './retry-after.ts';

/** Limits of an endpoint that are set; without one it is learned from what the endpoint says of itself. */
export interface PaceLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

/** Longest wait for a limit that was learned, ms: what an endpoint says of itself must not stop a run. */
const LONGEST_LEARNED = 60_000;

/** A token bucket over requests and one over tokens, for all agents that ask one endpoint. Who waits goes in order. */
export class Pacer {
  readonly #requests: Bucket;
  readonly #tokens: Bucket;
  #line: Promise<unknown> = Promise.resolve();

  constructor({ requestsPerMinute, tokensPerMinute }: PaceLimits = {}) {
    this.#requests = new Bucket('requests', requestsPerMinute);
    this.#tokens = new Bucket('tokens', tokensPerMinute);
  }

  /**
   * Waits until a request of about `tokens()` tokens may be sent; `onWait` hears of it first. Rejects with the signal's reason, and with
   * {@link UpstreamError} `rate_limit` when the wait is longer than the `timeLeftMs()` of the whole work.
   */
  async pass(
    tokens: () => number,
    signal: AbortSignal,
    onWait: (ms: number) => void,
    timeLeftMs: () => number = () => Infinity,
  ): Promise<void> {
    if (!this.#requests.known && !this.#tokens.known) return;
    const turn = this.#line.then(() => this.#take(tokens(), signal, onWait, timeLeftMs));
    this.#line = turn.catch(nextInLine);
    await turn;
  }

  /** Takes notice of what an answer says about the limits. */
  heard(headers: Headers): void {
    this.#requests.heard(headers);
    this.#tokens.heard(headers);
  }

  async #take(
    tokens: number,
    signal: AbortSignal,
    onWait: (ms: number) => void,
    timeLeftMs: () => number,
  ): Promise<void> {
    signal.throwIfAborted();
    const wait = Math.max(this.#requests.waitFor(1), this.#tokens.waitFor(tokens));
    if (wait > timeLeftMs()) {
      const seconds = Math.ceil(wait / 1000);
      const what = `its pace lets the next request go in ${seconds} s, which is more than the time that is left`;
      throw new UpstreamError('rate_limit', what, { waitMs: wait, retryable: false });
    }
    if (wait > 0) {
      onWait(wait);
      await sleep(wait, signal);
    }
    this.#requests.take(1);
    this.#tokens.take(tokens);
  }
}

/** One who gave up holds nobody up. */
function nextInLine(): void {}

/** What is left of one limit, and how fast it comes back. */
class Bucket {
  readonly #name: string;
  readonly #isSet: boolean;
  #limit: number;
  #left: number;
  /** Comes back each ms. */
  #rate: number;
  #at = performance.now();

  constructor(name: string, perMinute: number | undefined) {
    this.#name = name;
    this.#isSet = perMinute !== undefined;
    this.#limit = perMinute ?? Number.POSITIVE_INFINITY;
    this.#left = this.#limit;
    this.#rate = this.#limit / 60_000;
  }

  get known(): boolean {
    return this.#limit !== Number.POSITIVE_INFINITY;
  }

  waitFor(amount: number): number {
    if (!this.known) return 0;
    this.#refill();
    // one that is larger than the whole bucket goes when that is full
    const missing = Math.min(amount, this.#limit) - this.#left;
    if (missing <= 0) return 0;
    const wait = Math.ceil(missing / this.#rate);
    return this.#isSet ? wait : Math.min(wait, LONGEST_LEARNED);
  }

  take(amount: number): void {
    if (!this.known) return;
    this.#refill();
    this.#left -= amount;
  }

  heard(headers: Headers): void {
    if (this.#isSet) return;
    const limit = numberIn(headers, `x-ratelimit-limit-${this.#name}`);
    const left = numberIn(headers, `x-ratelimit-remaining-${this.#name}`);
    const reset = resetWait(headers.get(`x-ratelimit-reset-${this.#name}`), Date.now());
    if (limit === undefined || left === undefined || limit < 1 || left > limit) return;
    // the time until all is back tells how fast it comes back; without it, a minute
    const rate = reset > 0 && limit > left ? (limit - left) / reset : limit / 60_000;
    [this.#limit, this.#left, this.#rate, this.#at] = [limit, left, rate, performance.now()];
  }

  #refill(): void {
    const now = performance.now();
    this.#left = Math.min(this.#limit, this.#left + (now - this.#at) * this.#rate);
    this.#at = now;
  }
}

function numberIn(headers: Headers, name: string): number | undefined {
  const value = headers.get(name);
  return value !== null && /^\d+$/.test(value.trim()) ? Number(value) : undefined;
}
