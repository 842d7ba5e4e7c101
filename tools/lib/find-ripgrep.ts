import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { AppError } from '../../base/errors.ts';

/** Path of ripgrep: `rg` on the given PATH, else the one that came with us. Throws `not_found` when there is neither. */
export async function findRipgrep(path: string | undefined): Promise<string> {
  for (const folder of (path ?? '').split(delimiter)) {
    // A relative entry would let the work tree put its own program there.
    if (!isAbsolute(folder)) continue;
    const file = join(folder, 'rg');
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (cause) {
    const message = 'ripgrep is missing: install it (the program is called rg), or npm ci with optional dependencies';
    throw new AppError('not_found', message, { cause });
  }
}
