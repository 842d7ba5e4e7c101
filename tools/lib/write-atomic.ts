import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Writes a file so that it is the old or the new one, never half of one; mode and owner of an existing file are kept. */
export async function writeAtomic(path: string, bytes: Buffer): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const old = await stat(path).catch(() => undefined);
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await open(temporary, 'wx', 0o666);
  try {
    await fill(file, bytes, old);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function fill(
  file: FileHandle,
  bytes: Buffer,
  old: { mode: number; uid: number; gid: number } | undefined,
): Promise<void> {
  try {
    await file.writeFile(bytes);
    if (old) {
      const mine = await file.stat();
      // Only root may give a file away; for others it is theirs already or cannot be helped.
      if (mine.uid !== old.uid || mine.gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => {});
      await file.chmod(old.mode & 0o7777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
