import type { Connection } from './connection.ts';
import { toLevelZero } from './level-zero.ts';
import type { Sink } from './mailbox.ts';
import type { StoredMessage } from './storage.ts';

/** Where a connection's mailbox is emptied to. */
export function sinkOf(connection: Connection, softBuffer: number): Sink {
  return connection.level === 0 ? new LevelZeroSink(connection, softBuffer) : new LevelOneSink(connection, softBuffer);
}

/** Room as long as less than `softBuffer` bytes wait for the peer. */
class BufferedSink {
  protected readonly connection: Connection;
  readonly #softBuffer: number;

  constructor(connection: Connection, softBuffer: number) {
    this.connection = connection;
    this.#softBuffer = softBuffer;
  }

  full(): boolean {
    return !this.connection.open || this.connection.queued > this.#softBuffer;
  }
}

class LevelZeroSink extends BufferedSink implements Sink {
  deliver(message: StoredMessage): void {
    const { connection } = this;
    if (message.type === 'route') connection.sendLogged(message, `,"lsn":${message.lsn},"ts":${message.ts}}`);
    else {
      const text = toLevelZero(message);
      if (text !== undefined) connection.send(text, message.type);
    }
  }
}

/** Adds the keys that level 1 gets: one number a message is turned into text, the others are the same as just before. */
class LevelOneSink extends BufferedSink implements Sink {
  #number = 0;
  #text = '0';
  #time = -1;
  #between = '';

  deliver(message: StoredMessage, prev: number, again: boolean): void {
    const { lsn, ts } = message;
    const before = prev === this.#number ? this.#text : String(prev);
    this.#number = lsn;
    this.#text = String(lsn);
    if (ts !== this.#time) {
      this.#time = ts;
      this.#between = `,"ts":${ts},"seq":`;
    }
    const redelivered = again ? ',"redelivered":1' : '';
    if (again) this.connection.metrics.redelivered += 1;
    const keys = `,"lsn":${this.#text}${this.#between}${this.#text},"prev":${before}${redelivered}}`;
    this.connection.sendLogged(message, keys);
  }
}
