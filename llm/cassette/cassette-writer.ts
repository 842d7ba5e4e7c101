import { appendFile, open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { AppError, messageOf } from '../../base/errors.ts';
import { fileWords } from '../../base/file-words.ts';
import { isPacked, readCassette } from './cassette-file.ts';
import type { Exchange, Header } from './format.ts';
import type { HashedRequest } from './request.ts';

const zipped = promisify(gzip);

/** Appends exchanges to a cassette as they end, so that a run that dies leaves what it had. */
export class CassetteWriter {
  readonly #path: string;
  readonly #onFailure: (words: string) => void;
  readonly #written: Set<string>;
  /** Number of the next exchange. */
  #next: number;
  #last: Promise<void> = Promise.resolve();
  #broken = false;

  private constructor(path: string, known: { written: Set<string>; next: number }, onFailure: (words: string) => void) {
    this.#path = path;
    this.#written = known.written;
    this.#next = known.next;
    this.#onFailure = onFailure;
  }

  /**
   * Begins the file, readable by its owner alone. With `goOn` what a process of the same run wrote before stays, else a file that
   * holds something is AppError `usage`. `onFailure` hears once why nothing more could be written.
   */
  static async open(
    path: string,
    options: { header: Header; goOn: boolean; onFailure: (words: string) => void },
  ): Promise<CassetteWriter> {
    if (!options.goOn) await mustBeEmpty(path);
    else if ((await sizeOf(path)) > 0) return CassetteWriter.#goOn(path, options.onFailure);
    try {
      // its own mode also where an empty file lay there
      const file = await open(path, 'w', 0o600);
      await file.chmod(0o600);
      await file.writeFile(await packed(path, `${JSON.stringify(options.header)}\n`));
      await file.close();
    } catch (error) {
      throw new AppError('usage', `cannot record into ${path}: ${fileWords(error)}`, { cause: error });
    }
    return new CassetteWriter(path, { written: new Set(), next: 0 }, options.onFailure);
  }

  static async #goOn(path: string, onFailure: (words: string) => void): Promise<CassetteWriter> {
    const { header, parts, exchanges, torn } = await readCassette(path);
    if (torn) {
      const lines = [header, ...[...parts].map(([part, value]) => ({ part, value })), ...exchanges];
      const file = await open(path, 'w', 0o600);
      await file.writeFile(await packed(path, lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
      await file.close();
    }
    const next = (exchanges.at(-1)?.exchange ?? -1) + 1;
    return new CassetteWriter(path, { written: new Set(parts.keys()), next }, onFailure);
  }

  /** Numbers are given when requests begin. */
  nextNumber(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  write(exchange: Exchange, request: HashedRequest): void {
    if (this.#broken) return;
    const lines: string[] = [];
    for (const [part, value] of request.values) {
      if (this.#written.has(part)) continue;
      this.#written.add(part);
      lines.push(JSON.stringify({ part, value }));
    }
    lines.push(JSON.stringify(exchange));
    const text = `${lines.join('\n')}\n`;
    this.#last = this.#last
      .then(async () => appendFile(this.#path, await packed(this.#path, text)))
      .catch((error) => this.#fail(error));
  }

  /** Resolves when everything is written. */
  close(): Promise<void> {
    return this.#last;
  }

  #fail(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#onFailure(fileWords(error));
  }
}

async function packed(path: string, text: string): Promise<string | Buffer> {
  return isPacked(path) ? await zipped(text) : text;
}

/** Throws AppError `usage` when a recording into this file would lose something. */
export async function mustBeEmpty(path: string): Promise<void> {
  if ((await sizeOf(path)) === 0) return;
  throw new AppError('usage', `${path} holds something already; record into a new file, or remove it first`);
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
    throw new AppError('usage', `cannot record into ${path}: it is no file`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw new AppError('usage', `cannot record into ${path}: ${messageOf(error)}`, { cause: error });
  }
}
