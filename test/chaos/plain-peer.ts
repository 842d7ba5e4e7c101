import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

/**
 * A level-0 peer, as a person at wscat: it is never killed itself, comes back whenever the hub is there, and keeps in mind
 * what it was told. It acknowledges nothing, so what the hub owes it shows only against dead letters.
 */
export class PlainPeer {
  readonly name: string;
  /** Log positions of what it was told, in the order in which that came. */
  readonly told: number[] = [];
  readonly #address: () => string;
  #ending = false;
  #socket: WebSocket | undefined;
  readonly #over: Promise<void>;

  /** `address` is where the hub is now, or is to be. */
  constructor(name: string, address: () => string) {
    this.name = name;
    this.#address = address;
    this.#over = this.#live();
  }

  async end(): Promise<void> {
    this.#ending = true;
    this.#socket?.close();
    await this.#over;
  }

  async #live(): Promise<void> {
    while (!this.#ending) {
      await this.#connectOnce();
      await delay(20);
    }
  }

  #connectOnce(): Promise<void> {
    const address = this.#address();
    if (address === '') return Promise.resolve();
    return new Promise((resolve) => {
      const socket = new WebSocket(`${address}/?agent=${this.name}`);
      this.#socket = socket;
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data)) as { type: string; to: string; lsn?: number };
        if (frame.type === 'route' && frame.to === this.name) this.told.push(frame.lsn ?? 0);
      });
      socket.on('error', () => undefined); // the hub is killed again and again
      socket.on('close', () => resolve());
    });
  }
}
