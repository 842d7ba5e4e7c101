import type { Clock } from '../base/time.ts';

/** Named timers of one owner; setting one again replaces it. 0 ms = never. */
export class Timers<Name extends string> {
  readonly #clock: Clock;
  readonly #running = new Map<Name, { cancel(): void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(name: Name, ms: number, callback: () => void): void {
    this.clear(name);
    if (ms <= 0) return;
    const handle = this.#clock.after(ms, () => {
      if (this.#running.get(name) !== handle) return;
      this.#running.delete(name);
      callback();
    });
    this.#running.set(name, handle);
  }

  has(name: Name): boolean {
    return this.#running.has(name);
  }

  clear(name: Name): void {
    this.#running.get(name)?.cancel();
    this.#running.delete(name);
  }

  clearAll(): void {
    for (const handle of this.#running.values()) handle.cancel();
    this.#running.clear();
  }
}

/** Runs `judge` once what waits in the sockets has been read: after a standstill of the process a peer's words come before its judgement. */
export function afterReading(judge: () => void): void {
  setImmediate(judge);
}
