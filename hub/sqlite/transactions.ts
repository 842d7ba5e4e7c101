import { AppError } from '../../base/errors.ts';
import type { Database } from '../../base/sqlite.ts';

/** Runs work in one transaction, or undoes it and throws; `disk_full` when that is why. */
export type Transaction = <T>(work: () => T) => T;

export function transactions(database: Database): Transaction {
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  return (work) =>
    toldWhenFull(() => {
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (error) {
        // After a full disk SQLite has rolled back already.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    });
}

const SQLITE_FULL = 13;

/** Does work that writes, and says in words when there is no room for it. */
export function toldWhenFull<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode !== SQLITE_FULL) throw error;
    throw new AppError('disk_full', 'the disk is full: the log cannot be written; make room and start again', {
      cause: error,
    });
  }
}
