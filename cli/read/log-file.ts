import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip, constants as zlib } from 'node:zlib';
import { AppError, messageOf } from '../../base/errors.ts';
import { fileWords } from '../../base/file-words.ts';
import { type Envelope, envelope } from '../../protocol/index.ts';
import { splitLines } from './split-lines.ts';

/** The end of a log file that holds no whole message: what a crash, or a copy that was cut off, leaves. */
export interface TornTail {
  /** Line that the tail begins on, from 1. */
  readonly line: number;
  /** Bytes of the tail, unpacked; 0 when the packed file ends early between two lines. */
  readonly bytes: number;
}

/**
 * The frames of a log file: one JSON object a line, plain or gzip. Where the file ends in the middle of something, all before is
 * read and `onTorn` told of the rest. Throws `AppError('usage')` naming the line that is no message.
 */
export async function* readLogFile(path: string, onTorn: (tail: TornTail) => void = () => {}): AsyncIterable<Envelope> {
  const packed = await isGzip(path);
  const total = { bytes: 0 };
  let number = 0;
  let doubt: { line: number; bytes: number; why: string } | undefined;
  try {
    for await (const { bytes, ended } of splitLines(contentOf(path, packed, total))) {
      number += 1;
      if (doubt) {
        if (!isBlank(bytes)) throw new Error(doubt.why);
        doubt.bytes += bytes.length;
        continue;
      }
      const text = (number === 1 ? withoutMark(bytes) : bytes).toString();
      if (text.trim() === '') continue;
      const found = parse(text);
      if (typeof found !== 'string') yield found;
      else if (isTorn(bytes, ended)) doubt = { line: number, bytes: bytes.length, why: found };
      else throw new Error(found);
    }
  } catch (error) {
    throw noLog(`${path}, line ${doubt?.line ?? number}`, messageOf(error), error);
  }
  if (doubt) onTorn({ line: doubt.line, bytes: doubt.bytes });
  else if (packed && (await endsEarly(path, total.bytes))) onTorn({ line: number + 1, bytes: 0 });
}

/** The frame on a line, or why there is none. */
function parse(text: string): Envelope | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return messageOf(error);
  }
  return envelope.safeParse(value).data ?? 'JSON, but no message';
}

/** Whether these bytes look like the beginning of a message that nobody finished, or like a block that the disk never filled. */
function isTorn(bytes: Buffer, ended: boolean): boolean {
  if (bytes.includes(0)) return true;
  const text = bytes.toString();
  return !ended && text.startsWith('{') && !isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0 || byte === 0x20 || byte === 0x0d || byte === 0x09);
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(Buffer.from('\uFEFF')) ? bytes.subarray(3) : bytes;
}

async function* contentOf(path: string, packed: boolean, total: { bytes: number }): AsyncIterable<Buffer> {
  const file = createReadStream(path);
  // what was unpacked before the end is kept back by zlib unless it is told that the end may be missing
  const content = packed ? file.pipe(createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH })) : file;
  file.on('error', (error) => content.destroy(error));
  for await (const chunk of content) {
    total.bytes += chunk.length;
    yield chunk;
  }
}

/** Whether a gzip file that could be unpacked lacks its end. The last four bytes tell the length, but not of a file of several parts. */
async function endsEarly(path: string, unpacked: number): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read({ buffer: Buffer.alloc(4), position: Math.max(0, size - 4) });
    if (buffer.readUInt32LE() === unpacked % 2 ** 32) return false;
  } finally {
    await file.close();
  }
  try {
    for await (const _ of createReadStream(path).pipe(createGunzip()));
    return false;
  } catch {
    return true;
  }
}

function noLog(where: string, why: string, cause: unknown): AppError {
  const wanted = 'expected is JSON Lines, one message a line, gzipped or not';
  return new AppError('usage', `${where}: this is no message log; ${wanted} (${why})`, { cause });
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path).catch((error) => {
    throw new AppError('usage', `cannot read ${path}: ${fileWords(error)}`, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(2) });
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } catch (error) {
    // a folder opens, but cannot be read
    throw noLog(path, messageOf(error), error);
  } finally {
    await file.close();
  }
}
