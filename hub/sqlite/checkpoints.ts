import { statSync } from 'node:fs';
import type { Database } from '../../base/sqlite.ts';
import type { Beside } from './beside.ts';

const MIB = 1024 * 1024;

/** How the write-ahead log is kept small, in bytes. */
const SIZES = {
  /** It is looked at after about so many bytes of commits, and copied into the database beside the hub. */
  look: 4 * MIB,
  /** Beyond this size commits wait until the rest is copied too, so that it begins anew. */
  hold: 64 * MIB,
  /** The file is cut to this when it begins anew. */
  file: 16 * MIB,
};

/** A commit writes whole pages besides what is in it. */
const OVERHEAD = 8192;

/** A file that is large and not written to is cut after, ms. */
const IDLE = 5000;

/**
 * Checkpoints beside the hub. SQLite lets a write-ahead log begin anew only when all of it is copied at the moment of a
 * commit, which under constant load never is. So when it has become large, commits wait for the last few pages: some
 * milliseconds, in which the hub's thread goes on.
 */
export class Checkpoints {
  readonly #database: Database;
  readonly #path: string;
  readonly #beside: Beside;
  #written = 0;
  #working = false;
  #waiting: (() => void)[] | undefined;
  #idle: NodeJS.Timeout | undefined;
  #retryAt = 0;

  constructor(database: Database, path: string, beside: Beside) {
    this.#database = database;
    this.#path = `${path}-wal`;
    this.#beside = beside;
    database.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${SIZES.file}`);
  }

  /** Does a write now, or when writing is possible again; writes are done in the order in which they came. */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      if (this.#waiting === undefined) run();
      else this.#waiting.push(run);
    });
  }

  /** Counts what was written. */
  wrote(bytes: number): void {
    this.#written += bytes + OVERHEAD;
    if (this.#written < SIZES.look || this.#working) return;
    this.#written = 0;
    this.#working = true;
    void this.#copy().finally(() => {
      this.#working = false;
    });
  }

  stop(): void {
    clearTimeout(this.#idle);
  }

  async #copy(): Promise<void> {
    try {
      await this.#beside.checkpoint('PASSIVE');
      const size = this.#size();
      if (size >= Math.max(SIZES.hold, this.#retryAt)) {
        // A reader in another program may keep it from being copied: then it grows, and this is tried later.
        const begunAnew = await this.#held('PASSIVE');
        this.#retryAt = begunAnew ? 0 : size + SIZES.hold;
      }
      this.#cutWhenIdle();
    } catch {
      // Without the thread SQLite does it itself, on this one.
      this.#database.exec('PRAGMA wal_autocheckpoint = 1000');
    }
  }

  #cutWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#size() <= SIZES.file) return;
    this.#idle = setTimeout(() => {
      this.#held('TRUNCATE').catch(() => undefined);
    }, IDLE).unref();
  }

  /** Copies while nobody writes. */
  async #held(mode: 'PASSIVE' | 'TRUNCATE'): Promise<boolean> {
    if (this.#waiting !== undefined) return false;
    this.#waiting = [];
    try {
      return await this.#beside.checkpoint(mode);
    } finally {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      for (const run of waiting) run();
    }
  }

  #size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }
}
