import type { Clock } from '../base/time.ts';
import type { Connection } from './connection.ts';
import type { HubClocks } from './options.ts';
import { afterReading } from './timers.ts';

/** Parts of a period, and their shortest time, ms. */
const PARTS = 256;
const SHORTEST = 10;

/** What is known of one connection's pings. */
export interface Pulse {
  readonly connection: Connection;
  /** Those that are pinged together with it. */
  readonly beat: Beat;
  /** Signs of life before a ping that is still to be judged; undefined when there is none. */
  before: number | undefined;
  /** Whether its pong is still to come. */
  waiting: boolean;
}

interface Beat {
  readonly pulses: Set<Pulse>;
  pingedAt: number;
}

/**
 * Pings all connections, each once a period, and ends those of which nothing is heard for `pong` ms after it. Each has a random
 * moment of the period, so that the pings are spread over it. One timer serves all of them: two for each were half a kilobyte
 * a connection, made anew at every ping.
 */
export class Heartbeat {
  readonly #clock: Clock;
  /** How long a part of the period is, ms, and how many of them a peer has to answer. */
  readonly #part: number;
  readonly #patience: number;
  readonly #beats: readonly Beat[];
  #next = 0;
  /** When the next part begins. */
  #due = 0;
  #connections = 0;
  #timer: { cancel(): void } | undefined;

  constructor(clock: Clock, { ping, pong }: Pick<HubClocks, 'ping' | 'pong'>) {
    this.#clock = clock;
    this.#part = Math.max(SHORTEST, ping / PARTS);
    this.#patience = Math.ceil(pong / this.#part);
    // What was pinged is judged before it is pinged again.
    const parts = Math.max(Math.round(ping / this.#part), this.#patience + 1);
    this.#beats = Array.from({ length: parts }, () => ({ pulses: new Set(), pingedAt: 0 }));
  }

  /** Begins to ping a connection. */
  add(connection: Connection): Pulse {
    const beat = this.#beats[Math.floor(Math.random() * this.#beats.length)] as Beat;
    const pulse: Pulse = { connection, beat, before: undefined, waiting: false };
    connection.socket.on('pong', () => this.#answered(pulse));
    beat.pulses.add(pulse);
    this.#connections += 1;
    if (this.#timer === undefined) {
      this.#due = this.#clock.monotonic();
      this.#timer = this.#wind();
    }
    return pulse;
  }

  /** Leaves a connection alone. */
  remove(pulse: Pulse): void {
    if (!pulse.beat.pulses.delete(pulse)) return;
    this.#connections -= 1;
    if (this.#connections > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A late tick is not made up for by a burst, and does not make the others late. */
  #wind(): { cancel(): void } {
    const now = this.#clock.monotonic();
    this.#due = Math.max(this.#due + this.#part, now);
    return this.#clock.after(Math.max(1, this.#due - now), () => {
      this.#timer = this.#wind();
      this.#tick();
    });
  }

  #tick(): void {
    const { length } = this.#beats;
    const pinged = this.#beats[this.#next] as Beat;
    const due = this.#beats[(this.#next + length - this.#patience) % length] as Beat;
    this.#next = (this.#next + 1) % length;
    if (due.pulses.size > 0) afterReading(() => judge(due));
    pinged.pingedAt = this.#clock.monotonic();
    for (const pulse of pinged.pulses) {
      pulse.before = pulse.connection.heard;
      pulse.waiting = true;
      pulse.connection.socket.ping();
    }
  }

  #answered(pulse: Pulse): void {
    const { connection, beat, waiting } = pulse;
    connection.heard += 1;
    if (waiting) connection.metrics.pingRoundTrip.observe((this.#clock.monotonic() - beat.pingedAt) / 1000);
    pulse.waiting = false;
  }
}

/** Who was asked only after these were pinged is judged the next time. */
function judge({ pulses }: Beat): void {
  for (const pulse of pulses) {
    const { connection, before } = pulse;
    pulse.before = undefined;
    if (before === connection.heard && !connection.held) connection.terminate();
  }
}
