import { AppError } from '../base/errors.ts';
import type { WireFrame } from './outgoing.ts';

/**
 * How long a frame is kept and sent again after a reconnect: `durable` until the hub accepted it, `query` until it was
 * answered (the hub keeps no questions), `once` not at all.
 */
export type Keep = 'durable' | 'query' | 'once';

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly bytes: number;
  readonly keep: Keep;
  /** It waits for room: nothing of it went out yet. */
  queued: boolean;
  /** Its place among the frames of this connection; 0 = not sent on it. */
  number: number;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

/** What an outbox needs of a connection. */
export interface Line {
  transmit(text: string): void;
  /** Largest frame that the hub takes, bytes. */
  readonly maxBytes: number;
}

/** Frames, and their bytes, that may be with the hub, or wait for a connection; further ones wait for their turn. */
const MAX_FRAMES = 4096;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Frames on their way to the hub. `accepted {upto}` is cumulative over all frames of a connection, so every frame that
 * leaves, `ack` included, is counted here; `hello` was number 1.
 */
export class Outbox {
  /** In the order in which they were given; those that wait for room are the last. */
  readonly #waiting = new Map<string, Entry>();
  #queue: Entry[] = [];
  #frames = 0;
  #bytes = 0;
  #line: Line | undefined;
  #repeating = false;
  #sent = 0;
  #drained: (() => void)[] = [];
  #over: AppError | undefined;

  /** Sends the frame as soon as there is a connection and room; resolves once the hub accepted it. */
  add(frame: WireFrame, keep: Keep): Promise<void> {
    if (this.#waiting.has(frame.id)) {
      return Promise.reject(new AppError('usage', `A frame with id ${frame.id} is already on its way.`));
    }
    if (this.#over) return Promise.reject(this.#over);
    if (keep === 'once' && !this.#line) return Promise.reject(disconnected());
    const text = JSON.stringify(frame);
    const { id, type } = frame;
    return new Promise((resolve, reject) => {
      const bytes = Buffer.byteLength(text);
      const entry: Entry = { id, type, text, bytes, keep, queued: true, number: 0, resolve, reject };
      this.#waiting.set(id, entry);
      this.#queue.push(entry);
      this.#advance();
    });
  }

  /** Sends a frame that nobody waits for; dropped without a connection. */
  post(frame: WireFrame): void {
    if (!this.#line) return;
    this.#sent += 1;
    this.#line.transmit(JSON.stringify(frame));
  }

  /** A connection said hello and was welcomed: what waits goes out, in order, with the ids it had before. */
  connected(line: Line): void {
    this.#line = line;
    this.#sent = 1;
    // What waits for room must not overtake when one of these is refused here.
    this.#repeating = true;
    for (const entry of [...this.#waiting.values()]) {
      if (entry.queued) break;
      this.#transmit(entry);
    }
    this.#repeating = false;
    this.#advance();
  }

  disconnected(): void {
    this.#line = undefined;
    for (const entry of [...this.#waiting.values()]) {
      entry.number = 0;
      if (entry.keep === 'once') this.#settle(entry, disconnected());
    }
    this.#release();
  }

  /** The first `upto` frames of this connection are committed. */
  accepted(upto: number): void {
    for (const entry of this.#waiting.values()) {
      if (entry.number === 0 || entry.number > upto) break;
      if (entry.keep !== 'query') this.#settle(entry);
    }
  }

  /** The hub refused the frame with this id; false when none such waits. */
  refused(id: string, error: AppError): boolean {
    const entry = this.#waiting.get(id);
    if (entry) this.#settle(entry, error);
    return entry !== undefined;
  }

  /** The frame with this id needs no more sending: it was answered, or nobody waits for it any more. */
  forget(id: string): void {
    const entry = this.#waiting.get(id);
    if (entry) this.#settle(entry);
  }

  /** Nothing will be sent any more. */
  fail(error: AppError): void {
    this.#over = error;
    this.#line = undefined;
    for (const entry of [...this.#waiting.values()]) this.#settle(entry, error);
  }

  /** Resolves when nothing waits, or when waiting is of no use because the connection is gone. */
  drained(): Promise<void> {
    if (this.#waiting.size === 0 || !this.#line) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained.push(resolve);
    });
  }

  /** Lets those that wait for room go, as far as there is some. */
  #advance(): void {
    while (this.#frames < MAX_FRAMES && this.#bytes < MAX_BYTES) {
      const entry = this.#queue.shift();
      if (entry === undefined) return;
      if (!this.#waiting.has(entry.id)) continue;
      entry.queued = false;
      this.#frames += 1;
      this.#bytes += entry.bytes;
      this.#transmit(entry);
    }
  }

  #transmit(entry: Entry): void {
    if (!this.#line) return;
    const { text, type, bytes } = entry;
    if (bytes > this.#line.maxBytes) {
      // a much larger one would make the hub cut the connection, again after each reconnect
      const message = `A ${type} of ${bytes} bytes is more than the ${this.#line.maxBytes} that the hub takes; pass large things by path or ref.`;
      this.#settle(entry, new AppError('wire', message, { details: { code: 'too_large', retryable: false } }));
      return;
    }
    this.#sent += 1;
    entry.number = this.#sent;
    this.#line.transmit(text);
  }

  #settle(entry: Entry, error?: AppError): void {
    this.#waiting.delete(entry.id);
    if (!entry.queued) {
      this.#frames -= 1;
      this.#bytes -= entry.bytes;
    }
    if (error) entry.reject(error);
    else entry.resolve();
    if (!this.#repeating && !this.#over) this.#advance();
    if (this.#waiting.size === 0) this.#release();
  }

  #release(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}

function disconnected(): AppError {
  return new AppError('disconnected', 'The connection to the hub is lost.');
}
