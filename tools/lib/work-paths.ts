import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AppError } from '../../base/errors.ts';

/** A place in the work tree. */
export interface WorkPath {
  /** Real path: every symlink on the way is resolved, so that writing keeps a link a link. */
  readonly absolute: string;
  /** Relative to the work tree, `.` for the tree itself. */
  readonly shown: string;
}

/** Finds the place that `path` names, which need not exist. Throws `refused` when it lies outside `cwd`, also by a symlink. */
export async function workPath(cwd: string, path: string): Promise<WorkPath> {
  if (path.trim() === '') throw new AppError('refused', 'the path is empty; give one inside the work tree');
  const root = await realpath(cwd);
  const asked = resolve(cwd, path);
  const absolute = await realPlace(asked);
  if (!isInside(root, absolute)) {
    throw new AppError('refused', `${path} lies outside the work tree; paths are relative to ${cwd}`);
  }
  return { absolute, shown: relative(root, absolute) || '.' };
}

/** The same for writing, where also git's own files are refused. */
export async function writablePath(cwd: string, path: string): Promise<WorkPath> {
  const place = await workPath(cwd, path);
  if (place.shown === '.') throw new AppError('refused', `${path} is the work tree itself; name a file in it`);
  if (place.shown.split(sep).some((part) => part.toLowerCase() === '.git')) {
    throw new AppError('refused', `${path} belongs to git; files under .git are not written`);
  }
  return place;
}

/** Whether `path` is `folder` or lies below it; both absolute and real. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** An error that says a path is not there, with names in its folder that are close to it. */
export async function notThere(cwd: string, place: WorkPath): Promise<AppError> {
  const folder = dirname(place.absolute);
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) {
    return new AppError('not_found', `${place.shown} is not there, nor is its folder; look with glob`);
  }
  const wanted = basename(place.absolute).toLowerCase();
  const stem = wanted.replace(/\.[^.]*$/, '');
  const close = names.filter((name) => {
    const lower = name.toLowerCase();
    return stem !== '' && (lower.includes(stem) || wanted.includes(lower.replace(/\.[^.]*$/, '') || '\0'));
  });
  const shown = close.slice(0, 5).map((name) => relative(cwd, join(folder, name)));
  const hint = shown.length > 0 ? `; did you mean ${shown.join(' or ')}?` : '; look with glob';
  return new AppError('not_found', `${place.shown} is not there${hint}`);
}

/** Real path of the part that exists, followed by the rest. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP')
      throw new AppError('refused', `${path} is a symlink that leads in a circle`, { cause: error });
    if (code === 'ENOTDIR')
      throw new AppError('refused', `${path} has a file where a folder should be`, { cause: error });
    if (code !== 'ENOENT') throw error;
  }
  // A link whose target is missing would be followed by a write, to wherever it points.
  if (await lstat(path).catch(() => undefined)) {
    throw new AppError('refused', `${path} is a symlink whose target is not there`);
  }
  const parent = dirname(path);
  return parent === path ? path : join(await realPlace(parent), basename(path));
}
