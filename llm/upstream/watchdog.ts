import { UpstreamError } from './errors.ts';

/** How long an endpoint may be silent, in ms. */
export interface Timeouts {
  /** Until the first byte of the answer. Default 180 000. */
  readonly firstByteMs: number;
  /** Between two bytes after that; keep-alive comments count. Default 90 000. */
  readonly idleMs: number;
  /** Between two events; keep-alive comments do not count. Default 300 000. */
  readonly progressMs: number;
  /** For the whole answer, however lively it is. Default 1 800 000. */
  readonly replyMs: number;
  /** Of silence, once the reply said that it is finished; then it is taken as it is. Default 5000. */
  readonly afterFinishMs: number;
}

export const defaultTimeouts: Timeouts = {
  ...{ firstByteMs: 180_000, idleMs: 90_000 },
  ...{ progressMs: 300_000, replyMs: 1_800_000, afterFinishMs: 5000 },
};

/** Aborts a call that went silent. Its signal also follows the caller's. */
export class Watchdog {
  readonly #controller = new AbortController();
  readonly #timeouts: Timeouts;
  readonly #outer: AbortSignal;
  readonly #follow = () => this.#controller.abort(this.#outer.reason);
  readonly #whole: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #progress: NodeJS.Timeout | undefined;
  readonly #over = new AbortController();
  #rest: NodeJS.Timeout | undefined;

  constructor(timeouts: Timeouts, outer: AbortSignal) {
    this.#timeouts = timeouts;
    this.#outer = outer;
    if (outer.aborted) this.#follow();
    else outer.addEventListener('abort', this.#follow, { once: true });
    this.#idle = this.#arm('timeout', timeouts.firstByteMs, 'no answer');
    this.#whole = this.#arm('timeout', timeouts.replyMs, 'the answer did not end');
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Some bytes came; `event` tells that they held more than a sign of life. */
  heard(event: boolean): void {
    if (this.#progress === undefined) {
      clearTimeout(this.#idle);
      this.#idle = this.#armIdle();
      this.#progress = this.#arm('stalled', this.#timeouts.progressMs, 'the stream sent nothing but keep-alives');
      return;
    }
    this.#idle?.refresh();
    if (event) this.#progress.refresh();
  }

  /** Aborted when a finished reply has nothing more to come. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Whether the reply looks finished; from then on only what follows a finish is waited for, each event anew. */
  looksFinished(finished: boolean): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    if (!finished) {
      this.#idle ??= this.#armIdle();
      return;
    }
    // a short idle time-out must not come first
    clearTimeout(this.#idle);
    this.#idle = undefined;
    this.#rest = setTimeout(() => this.#over.abort(), this.#timeouts.afterFinishMs);
  }

  stop(): void {
    for (const timer of [this.#whole, this.#idle, this.#progress, this.#rest]) clearTimeout(timer);
    this.#outer.removeEventListener('abort', this.#follow);
  }

  #armIdle(): NodeJS.Timeout {
    return this.#arm('stalled', this.#timeouts.idleMs, 'the stream went silent');
  }

  #arm(kind: 'timeout' | 'stalled', ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new UpstreamError(kind, `${what} for ${ms / 1000} s`)), ms);
  }
}
