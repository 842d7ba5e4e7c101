import { openStorage as openSqlite } from '../../hub/sqlite-storage.ts';
import type { Change, DeadLetter, OpenStorage, Storage } from '../../hub/storage.ts';

/** SQLite with a window: what a hub wrote, transaction by transaction, and what it holds. */
export interface WatchedStorage {
  readonly openStorage: OpenStorage;
  readonly commits: (readonly Change[])[];
  /** The store of the hub that was started last. */
  storage(): Storage;
  /** All dead letters, as `box reason payload`. */
  dead(): Promise<string[]>;
}

export function watchedStorage(): WatchedStorage {
  const commits: (readonly Change[])[] = [];
  let opened: Storage | undefined;
  const storage = () => opened as Storage;
  return {
    commits,
    storage,
    openStorage: async (path) => {
      const { storage: inner, ...rest } = await openSqlite(path);
      opened = {
        ...inner,
        commit: (changes, ts) => {
          commits.push(changes);
          return inner.commit(changes, ts);
        },
      };
      return { storage: opened, ...rest };
    },
    dead: async () => (await deadLettersOf(storage())).map(tell),
  };
}

/** All dead letters, by as many looks as it takes. */
export async function deadLettersOf(storage: Pick<Storage, 'deadLetters'>): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for (;;) {
    const page = await storage.deadLetters(found.at(-1)?.lsn ?? 0, 1000);
    if (page.length === 0) return found;
    found.push(...page);
  }
}

function tell({ box, reason, message }: DeadLetter): string {
  const { payload } = JSON.parse(message.body.toString()) as { payload: unknown };
  return `${box} ${reason} ${typeof payload === 'string' ? payload : message.type}`;
}
