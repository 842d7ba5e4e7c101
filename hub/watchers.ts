import type { FrameOf } from '../protocol/index.ts';
import { hubFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import { fits } from './log-filter.ts';
import type { Post } from './post.ts';
import type { LogFilter, LogPage, Storage, StoredMessage } from './storage.ts';

/** Messages read from the log at once. */
const PAGE = 100;
const PAGE_BYTES = 400 * 1024;

/** Watches that one connection may have. */
const MOST = 16;

/** Feeds the log to those who watch: in order, each message at most once, from the log when the watcher is behind. */
export class Watchers {
  readonly #storage: Storage;
  readonly #softBuffer: number;
  readonly #feeds = new Map<Connection, Set<Feed>>();

  constructor(post: Post, storage: Storage, softBuffer: number) {
    this.#storage = storage;
    this.#softBuffer = softBuffer;
    post.listen((message) => {
      for (const feeds of this.#feeds.values()) for (const feed of feeds) feed.push(message);
    });
  }

  /** Starts to feed a connection; `position` is the end of the log now, from where it goes on unless the frame says otherwise. False when it has too many already. */
  add(connection: Connection, { payload }: FrameOf<'watch'>, position: number): boolean {
    const { after_lsn: after = position, task_id: taskId, agent, type } = payload;
    const filter = {
      ...(taskId !== undefined && { taskId }),
      ...(agent !== undefined && { agent }),
      ...(type !== undefined && { type }),
    };
    const feed = new Feed(connection, filter, after, this.#storage, this.#softBuffer);
    const feeds = this.#feeds.get(connection) ?? new Set();
    if (feeds.size === MOST) return false;
    this.#feeds.set(connection, feeds.add(feed));
    if (after < position) feed.catchUp();
    return true;
  }

  /** Goes on with what a full buffer held back. */
  drained(connection: Connection): void {
    for (const feed of this.#feeds.get(connection) ?? []) feed.catchUp();
  }

  remove(connection: Connection): void {
    this.#feeds.delete(connection);
  }
}

/** One watch of one connection. */
class Feed {
  readonly #connection: Connection;
  readonly #filter: LogFilter;
  readonly #storage: Storage;
  readonly #softBuffer: number;
  #position: number;
  #behind = false;
  #reading = false;

  constructor(connection: Connection, filter: LogFilter, position: number, storage: Storage, softBuffer: number) {
    this.#connection = connection;
    this.#filter = filter;
    this.#position = position;
    this.#storage = storage;
    this.#softBuffer = softBuffer;
  }

  push(message: StoredMessage): void {
    if (this.#behind || this.#reading) {
      this.#behind = true;
      return;
    }
    if (message.lsn <= this.#position) return;
    if (this.#full()) {
      this.#behind = true;
      return;
    }
    this.#position = message.lsn;
    if (fits(message, this.#filter)) this.#say(message);
  }

  catchUp(): void {
    if (this.#reading) return;
    if (this.#full()) {
      // Until it has drained nothing may be said that comes after what is still to be read.
      this.#behind = true;
      return;
    }
    this.#reading = true;
    this.#storage.tail(this.#filter, this.#position, PAGE, PAGE_BYTES).then(
      (page) => this.#take(page),
      () => {
        // It is read again when the connection drains the next time.
        this.#reading = false;
        this.#behind = true;
      },
    );
  }

  #take({ messages, next }: LogPage): void {
    this.#reading = false;
    for (const message of messages) {
      this.#position = message.lsn;
      this.#say(message);
    }
    this.#position = Math.max(this.#position, next ?? 0);
    const more = this.#behind || next !== undefined;
    this.#behind = false;
    if (more && this.#connection.open) this.catchUp();
  }

  #full(): boolean {
    return this.#connection.queued > this.#softBuffer;
  }

  #say(message: StoredMessage): void {
    const event = hubFrame('event', this.#connection.name, undefined, { task_id: message.taskId });
    const keys = `,"lsn":${message.lsn},"ts":${message.ts}}}}`;
    this.#connection.sendLogged(message, keys, `${event.slice(0, -1)},"payload":{"frame":`);
  }
}
