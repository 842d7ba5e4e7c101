import { readFile } from 'node:fs/promises';
import { constants, gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { fileWords } from '../../base/file-words.ts';
import { cassetteVersion, Exchange, Header, Part } from './format.ts';
import type { TakenRequest } from './request.ts';

/** A cassette as it was read. */
export interface Cassette {
  readonly header: Header;
  /** In the order in which they were asked for. */
  readonly exchanges: readonly Exchange[];
  /** Messages, lists of tools and parameters by their hashes. */
  readonly parts: ReadonlyMap<string, unknown>;
  /** The last line was not written whole, and is left out. */
  readonly torn: boolean;
}

/** Whether a cassette of this name is compressed. */
export function isPacked(path: string): boolean {
  return path.endsWith('.gz');
}

/** Reads a cassette. Throws AppError `not_found`, or `misconfigured` when it is none, is damaged, or has another version. */
export async function readCassette(path: string): Promise<Cassette> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new AppError(absent ? 'not_found' : 'misconfigured', `cassette ${path}: ${fileWords(error)}`, {
      cause: error,
    });
  }
  return parseCassette(path, textOf(path, bytes));
}

function textOf(path: string, bytes: Buffer): string {
  if (!isPacked(path)) return bytes.toString('utf8');
  try {
    // what was written before a death can be read
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8');
  } catch (error) {
    throw new AppError(
      'misconfigured',
      `cassette ${path}: it is not compressed by gzip; rename it, or record it anew`,
      {
        cause: error,
      },
    );
  }
}

function parseCassette(path: string, text: string): Cassette {
  const lines = text.split('\n');
  // a line that was written whole has a line feed behind it
  const torn = lines.pop() !== '';
  const header = headerOf(path, lines[0]);
  const parts = new Map<string, unknown>();
  const exchanges: Exchange[] = [];
  for (const [at, line] of lines.entries()) {
    if (at === 0 || line.trim() === '') continue;
    const read = Line.safeParse(json(line));
    if (!read.success) throw damaged(path, at + 1, z.prettifyError(read.error));
    if ('part' in read.data) parts.set(read.data.part, read.data.value);
    else exchanges.push(read.data);
  }
  for (const one of exchanges) {
    const missing = [one.params, ...one.parts, ...(one.tools ? [one.tools] : [])].find((hash) => !parts.has(hash));
    if (missing) throw damaged(path, undefined, `exchange ${one.exchange} names a part that is missing (${missing})`);
  }
  return { header, exchanges: exchanges.sort((a, b) => a.exchange - b.exchange), parts, torn };
}

const Line = z.union([Exchange, Part]);

function headerOf(path: string, line: string | undefined): Header {
  const value = line === undefined ? undefined : json(line);
  const version = (value as { cassette?: unknown } | null | undefined)?.cassette;
  if (version === undefined) {
    throw new AppError('misconfigured', `cassette ${path}: it is no recording; its first line has no "cassette"`);
  }
  if (version !== cassetteVersion) {
    const known = `this program reads version ${cassetteVersion}`;
    throw new AppError('misconfigured', `cassette ${path}: its version is ${version}, ${known}; record it anew`);
  }
  const header = Header.safeParse(value);
  if (header.success) return header.data;
  throw damaged(path, 1, z.prettifyError(header.error));
}

function damaged(path: string, line: number | undefined, what: string): AppError {
  const where = line === undefined ? '' : `, line ${line}`;
  return new AppError('misconfigured', `cassette ${path}${where}: it is damaged: ${what}; record it anew`);
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The request of an exchange, as it was recorded. */
export function requestOf({ model, params, parts, tools }: Exchange, values: Cassette['parts']): TakenRequest {
  return {
    model,
    params: (values.get(params) ?? {}) as Record<string, unknown>,
    messages: parts.map((hash) => values.get(hash)),
    tools: tools === undefined ? undefined : values.get(tools),
  };
}
