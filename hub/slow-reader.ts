import type { Clock } from '../base/time.ts';
import { CloseCode } from '../protocol/index.ts';
import type { Connection } from './connection.ts';
import type { HubLimits } from './options.ts';
import { Timers } from './timers.ts';

/** Watches what one connection leaves unread: above the hard limit it is not listened to, and ended when it takes nothing at all. */
export class SlowReader {
  readonly #connection: Connection;
  readonly #limits: HubLimits;
  readonly #timers: Timers<'stalled'>;

  constructor(connection: Connection, clock: Clock, limits: HubLimits) {
    this.#connection = connection;
    this.#limits = limits;
    this.#timers = new Timers(clock);
  }

  /** Called after something was said. */
  check(): void {
    if (this.#connection.queued < this.#limits.hardBuffer || this.#timers.has('stalled')) return;
    this.#connection.hold('buffer');
    this.#watch(this.#taken());
  }

  /** Called when everything that was buffered has been taken. */
  drained(): void {
    this.#timers.clear('stalled');
    this.#connection.release('buffer');
  }

  stop(): void {
    this.#timers.clearAll();
  }

  /** A reader that drains slowly but steadily is never cut: only one that took nothing within the time. */
  #watch(before: number): void {
    this.#timers.set('stalled', this.#limits.stalledMs, () => {
      if (this.#connection.queued < this.#limits.softBuffer) {
        this.drained();
        return;
      }
      const now = this.#taken();
      if (now > before) this.#watch(now);
      else this.#connection.cut(CloseCode.slowConsumer, 'nothing was read');
    });
  }

  #taken(): number {
    return this.#connection.said - this.#connection.queued;
  }
}
