import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from './errors.ts';

/** What a state file turned out to be. `restored` came from `.bak`; a damaged file was moved to `setAside`. */
export type StateFile =
  | { readonly state: 'absent' }
  | { readonly state: 'ok' | 'restored'; readonly value: unknown; readonly setAside?: string }
  | { readonly state: 'damaged'; readonly setAside: string; readonly reason: string };

/** Writes JSON so that a crash leaves the old or the new file, never half of one; the old one stays as `.bak`. */
export async function writeStateFile(path: string, value: unknown): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(path, `${path}.bak`).catch(ignoreAbsent);
  await rename(temporary, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Reads JSON written by {@link writeStateFile}, telling "absent" from "damaged". A damaged file is set aside, never overwritten. */
export async function readStateFile(path: string): Promise<StateFile> {
  const current = await parse(path);
  if (current.state === 'ok') return current;
  const setAside = current.state === 'damaged' ? await setFileAside(path) : undefined;
  const backup = await parse(`${path}.bak`);
  if (backup.state === 'ok') return { state: 'restored', value: backup.value, ...(setAside && { setAside }) };
  if (current.state === 'absent' || setAside === undefined) return { state: 'absent' };
  return { state: 'damaged', setAside, reason: current.reason };
}

/** Moves a damaged file to `<path>.corrupt-<time>` and returns that name. */
export async function setFileAside(path: string): Promise<string> {
  const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  await rename(path, aside);
  return aside;
}

type Parsed = { state: 'absent' } | { state: 'ok'; value: unknown } | { state: 'damaged'; reason: string };

async function parse(path: string): Promise<Parsed> {
  try {
    return { state: 'ok', value: JSON.parse(await readFile(path, 'utf8')) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'absent' };
    return { state: 'damaged', reason: messageOf(error) };
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
