import type { DatabaseSyncInstance } from '@photostructure/sqlite';

/** A SQLite database of `node:sqlite`, or of the package with the same API where Node has none. */
export type Database = DatabaseSyncInstance;

async function load(): Promise<new (path: string, options?: { readOnly?: boolean }) => Database> {
  try {
    // The specifier is a variable because @types/node 20 does not know the module.
    const builtin = 'node:sqlite';
    return (await import(builtin)).DatabaseSync;
  } catch {
    return (await import('@photostructure/sqlite')).DatabaseSync as never;
  }
}

/** Opens (or makes) the database file at `path`; `:memory:` works too. */
export async function openDatabase(path: string, options: { readOnly?: boolean } = {}): Promise<Database> {
  const DatabaseSync = await quietly(load);
  return new DatabaseSync(path, { readOnly: options.readOnly ?? false });
}

/** `node:sqlite` announces itself as experimental on stderr, which belongs to people. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (String(warning).includes('SQLite')) return;
    emit.call(process, warning as string, ...rest);
  }) as typeof process.emitWarning;
  try {
    return await work();
  } finally {
    process.emitWarning = emit;
  }
}
