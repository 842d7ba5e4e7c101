import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage } from '../../../hub/sqlite-storage.ts';
import type { OpenedStorage } from './opened.ts';

/** A store in a file of its own. */
export async function inFile(): Promise<OpenedStorage> {
  const folder = await mkdtemp(join(tmpdir(), 'npc-storage-'));
  const path = join(folder, 'log.db');
  let { storage } = await openStorage(path);
  return {
    storage,
    reopen: async () => {
      await storage.close();
      ({ storage } = await openStorage(path));
      return storage;
    },
    destroy: async () => {
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A store that is gone when it is closed. */
export async function inMemory(): Promise<OpenedStorage> {
  const { storage } = await openStorage(':memory:');
  return { storage, destroy: () => storage.close() };
}
