import { writeFile } from 'node:fs/promises';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { StoredMessage } from '../storage.ts';
import type { Prepare } from './statements.ts';

/** Messages that are told of; a file that is rotten all over is not told of message by message. */
const MOST = 100;

interface Raw {
  readonly first: number;
  readonly frames: Uint8Array;
}

/** Reports messages of the log that cannot be read, each once, and sets aside the bytes that hold them. */
export class RotReport {
  readonly #prepare: Prepare;
  readonly #path: string | undefined;
  readonly #log: Log | undefined;
  readonly #told = new Set<number>();
  /** First positions of the batches that were set aside. */
  readonly #aside = new Set<number>();

  /** `path` is that of the database; bytes are set aside beside it. */
  constructor(prepare: Prepare, path: string | undefined, log: Log | undefined) {
    this.#prepare = prepare;
    this.#path = path;
    this.#log = log;
  }

  /** Looks through what was read, and hands it on. */
  seen<T extends readonly StoredMessage[]>(messages: T): T {
    for (const { damaged, lsn } of messages) if (damaged) this.#tell(lsn);
    return messages;
  }

  #tell(lsn: number): void {
    if (this.#told.has(lsn) || this.#told.size >= MOST) return;
    this.#told.add(lsn);
    const setAside = this.#setAside(lsn);
    this.#log?.error(
      { lsn, ...(setAside && { setAside }) },
      'a message of the log cannot be read, its bytes are damaged',
    );
  }

  #setAside(lsn: number): string | undefined {
    let raw: Raw | undefined;
    try {
      raw = this.#prepare('SELECT first, frames FROM batch WHERE first <= ? ORDER BY first DESC LIMIT 1').get(
        lsn,
      ) as unknown as Raw | undefined;
    } catch {
      // Not even its bytes can be had.
      return undefined;
    }
    if (raw === undefined || this.#path === undefined) return undefined;
    const file = `${this.#path}.damaged-${raw.first}`;
    if (this.#aside.has(raw.first)) return file;
    this.#aside.add(raw.first);
    writeFile(file, raw.frames, { mode: 0o600 }).catch((error: unknown) => {
      this.#log?.error({ file, error: messageOf(error) }, 'damaged bytes cannot be set aside');
    });
    return file;
  }
}
