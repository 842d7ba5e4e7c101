import type { Clock } from '../base/time.ts';
import type { Connection } from './connection.ts';
import { afterReading } from './timers.ts';

/** Bytes that wait to be handled from which on no more is read for a sign of life. */
const ENOUGH = 1024 * 1024;

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
   * whose reading is stopped is read on until its pong: what came before it may be older than the question. One that has much
   * to read, behind which the ping lies, lives as long as it takes any of it.
   */
  ask(connection: Connection): Promise<boolean> {
    const known = this.#asked.get(connection);
    if (known !== undefined) return known;
    const answer = this.#ask(connection).finally(() => this.#asked.delete(connection));
    this.#asked.set(connection, answer);
    return answer;
  }

  #ask(connection: Connection): Promise<boolean> {
    const { socket, heard, unread, held } = connection;
    if (!connection.open) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (alive: boolean) => {
        timer.cancel();
        socket.off('message', speaks);
        socket.off('pong', lives);
        socket.off('close', gone);
        connection.listen(false);
        resolve(alive);
      };
      const lives = () => end(true);
      const gone = () => end(false);
      const speaks = () => {
        // Of who sends more than may be read nobody can tell.
        if (!held || connection.backlog >= ENOUGH) end(true);
      };
      const judge = () => {
        const isReading = unread.some && connection.unread.mark !== unread.mark;
        end(connection.open && (isReading || (!held && connection.heard > heard)));
      };
      const timer = this.#clock.after(this.#patience, () => afterReading(judge));
      socket.on('message', speaks);
      socket.on('pong', lives);
      socket.on('close', gone);
      socket.ping();
      if (held && connection.backlog >= ENOUGH) end(true);
      else connection.listen(true);
    });
  }
}
