import type { Clock } from '../base/time.ts';
import type { Connection } from './connection.ts';
import { afterReading } from './timers.ts';

/** Finds out whether peers are still there, each asked once at a time however many want to know. */
export class SignsOfLife {
  readonly #clock: Clock;
  readonly #patience: number;
  readonly #asked = new WeakMap<Connection, Promise<boolean>>();

  /** `patience` is how long a peer has to answer, ms. */
  constructor(clock: Clock, patience: number) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /**
   * Pings a peer; true as soon as it gives any sign of life, false when it gives none in time or its connection ends. One
   * whose reading is stopped cannot be heard, and is taken to be alive.
   */
  ask(connection: Connection): Promise<boolean> {
    const known = this.#asked.get(connection);
    if (known !== undefined) return known;
    const answer = this.#ask(connection).finally(() => this.#asked.delete(connection));
    this.#asked.set(connection, answer);
    return answer;
  }

  #ask(connection: Connection): Promise<boolean> {
    const { socket, heard } = connection;
    if (!connection.open) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (alive: boolean) => {
        timer.cancel();
        for (const sign of ['message', 'pong'] as const) socket.off(sign, lives);
        socket.off('close', gone);
        resolve(alive);
      };
      const lives = () => end(true);
      const gone = () => end(false);
      const timer = this.#clock.after(this.#patience, () =>
        afterReading(() => end(connection.heard > heard || (connection.held && connection.open))),
      );
      for (const sign of ['message', 'pong'] as const) socket.on(sign, lives);
      socket.on('close', gone);
      socket.ping();
    });
  }
}
