import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { AppError, messageOf } from '../../base/errors.ts';
import { type Envelope, envelope } from '../../protocol/index.ts';

/** The frames of a log file: one JSON object a line, plain or gzip. Throws `AppError('usage')` naming the line that is none. */
export async function* readLogFile(path: string): AsyncIterable<Envelope> {
  const zipped = await isGzip(path);
  const bytes = createReadStream(path);
  const text = zipped ? bytes.pipe(createGunzip()) : bytes;
  bytes.on('error', (error) => text.destroy(error));
  let number = 0;
  try {
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() !== '') yield parse(line);
    }
  } catch (error) {
    throw noLog(`${path}, line ${number}`, messageOf(error), error);
  }
}

function parse(line: string): Envelope {
  const frame = envelope.safeParse(JSON.parse(line));
  if (!frame.success) throw new Error('JSON, but no message');
  return frame.data;
}

function noLog(where: string, why: string, cause: unknown): AppError {
  const wanted = 'expected is JSON Lines, one message a line, gzipped or not';
  return new AppError('usage', `${where}: this is no message log; ${wanted} (${why})`, { cause });
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path).catch((error) => {
    throw new AppError('usage', `cannot read ${path}: ${messageOf(error)}`, { cause: error });
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
