import { readFile, stat } from 'node:fs/promises';
import { AppError } from '../../base/errors.ts';
import { type DecodedText, decodeText } from './encoding.ts';
import type { WorkPath } from './work-paths.ts';

/** Largest file that is taken into memory, bytes. */
const MAX_FILE = 32 * 1024 * 1024;

/** A file of the work tree; `text` is undefined when it is no text. */
export interface LoadedFile {
  readonly bytes: Buffer;
  readonly text: DecodedText | undefined;
}

/** Reads a whole file; undefined when it is not there. Throws `refused` for folders, devices and files over 32 MB. */
export async function loadFile(place: WorkPath): Promise<LoadedFile | undefined> {
  const info = await stat(place.absolute).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (info === undefined) return undefined;
  if (info.isDirectory()) throw new AppError('refused', `${place.shown} is a folder; list it with glob`);
  // A pipe or a device would wait for ever.
  if (!info.isFile()) throw new AppError('refused', `${place.shown} is no regular file`);
  if (info.size > MAX_FILE) {
    const size = Math.round(info.size / 1024 / 1024);
    throw new AppError(
      'refused',
      `${place.shown} has ${size} MB; look at parts of it with grep, or with bash and sed -n`,
    );
  }
  const bytes = await readFile(place.absolute);
  return { bytes, text: decodeText(bytes) };
}
