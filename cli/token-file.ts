import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { AppError } from '../base/errors.ts';
import { fileWords } from '../base/file-words.ts';

/** Nobody else than its owner may do anything with the file. */
const OTHERS = 0o077;

/** More than a token has, so that a wrong file is not read whole. */
const LONGEST = 4096;

/**
 * Reads a token that only its owner can read. Throws `AppError('usage')` where others can, or where it holds none, and
 * `not_found` where there is no file.
 */
export async function readTokenFile(path: string): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOENT' ? 'not_found' : 'usage';
    const cure = code === 'not_found' ? '; a hub leaves its token in its state folder, as the file `token`' : '';
    throw new AppError(code, `cannot read the token file ${path}: ${fileWords(error)}${cure}`, { cause: error });
  });
  try {
    return await readToken(file, path);
  } finally {
    await file.close();
  }
}

/** Reads the token of `path`, or draws one and writes it there for its owner alone; throws as {@link readTokenFile}. */
export async function openTokenFile(path: string): Promise<{ token: string; made: boolean }> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw new AppError('usage', `cannot make the token file ${path}: ${fileWords(error)}`, { cause: error });
  });
  if (file === undefined) return { token: await readTokenFile(path), made: false };
  const token = randomBytes(32).toString('base64url');
  try {
    await file.writeFile(`${token}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return { token, made: true };
}

async function readToken(file: FileHandle, path: string): Promise<string> {
  const stats = await file.stat();
  const { mode } = stats;
  if (stats.isDirectory()) throw new AppError('usage', `cannot read the token file ${path}: it is a folder`);
  if ((mode & OTHERS) !== 0) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0');
    throw new AppError(
      'usage',
      `others can read the token file ${path} (mode ${shown}); chmod 600 it, and better draw a new token`,
    );
  }
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST), 0, LONGEST);
  const token = buffer.toString('utf8', 0, bytesRead).trim();
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return token;
  const wrong = token === '' ? 'is empty' : 'holds no token (16 to 512 letters, digits and signs on one line)';
  throw new AppError('usage', `the token file ${path} ${wrong}; remove it, and npc-crew hub makes a new one`);
}
