import type { Clock } from '../base/time.ts';
import type { Connection } from './connection.ts';
import type { HubClocks } from './options.ts';
import { afterReading } from './timers.ts';

/**
 * Pings one connection and ends it when nothing is heard for `pong` ms after a ping. The first ping comes at a random
 * moment of the period, so that the pings of many connections are spread over it.
 */
export class Heartbeat {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #clocks: HubClocks;
  #timer: { cancel(): void };
  #stopped = false;
  #pingedAt = 0;

  constructor(connection: Connection, clock: Clock, clocks: HubClocks) {
    this.#connection = connection;
    this.#clock = clock;
    this.#clocks = clocks;
    this.#timer = clock.after(Math.max(1, Math.random() * clocks.ping), () => this.#ping());
    connection.socket.on('pong', () => this.#answered());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.cancel();
  }

  #answered(): void {
    const { metrics } = this.#connection;
    this.#connection.heard += 1;
    if (this.#pingedAt > 0) metrics.pingRoundTrip.observe((this.#clock.monotonic() - this.#pingedAt) / 1000);
    this.#pingedAt = 0;
  }

  #ping(): void {
    const { heard, socket } = this.#connection;
    this.#pingedAt = this.#clock.monotonic();
    socket.ping();
    this.#timer = this.#clock.after(this.#clocks.pong, () => afterReading(() => this.#judge(heard)));
  }

  #judge(before: number): void {
    if (this.#stopped) return;
    const { ping, pong } = this.#clocks;
    if (this.#connection.heard === before && !this.#connection.held) this.#connection.terminate();
    else this.#timer = this.#clock.after(Math.max(1, ping - pong), () => this.#ping());
  }
}
