import type { Socket } from 'node:net';
import { LONGEST_TIMER } from '../base/time.ts';
import { CloseCode } from '../protocol/index.ts';
import type { Connection } from './connection.ts';
import type { HubLimits } from './options.ts';

/**
 * Watches what one connection leaves unread. Above the hard limit it is not listened to any more, and ended when its
 * socket takes nothing at all for a while: one that drains slowly but steadily is never cut off.
 */
export class SlowReader {
  readonly #connection: Connection;
  readonly #stream: Socket;
  readonly #limits: HubLimits;
  #watching = false;
  /** How long it may still stand still, ms. */
  #left = 0;

  constructor(connection: Connection, stream: Socket, limits: HubLimits) {
    this.#connection = connection;
    this.#stream = stream;
    this.#limits = limits;
    stream.on('timeout', () => {
      if (!this.#watching) return;
      this.#left -= LONGEST_TIMER;
      if (this.#left > 0) this.#wind();
      else connection.cut(CloseCode.slowConsumer, 'nothing was read');
    });
  }

  /** Called after something was said. */
  check(): void {
    if (this.#watching || this.#connection.queued < this.#limits.hardBuffer) return;
    this.#watching = true;
    this.#connection.hold('buffer');
    // Nothing is read now, so what keeps the socket from its timeout is the peer taking bytes, even part of a frame.
    this.#left = this.#limits.stalledMs;
    this.#wind();
  }

  /** Called when everything that was buffered has been taken. */
  drained(): void {
    if (!this.#watching) return;
    this.#watching = false;
    this.#stream.setTimeout(0);
    this.#connection.release('buffer');
  }

  #wind(): void {
    this.#stream.setTimeout(Math.min(this.#left, LONGEST_TIMER));
  }
}
