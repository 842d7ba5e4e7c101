import type { Database } from '../../base/sqlite.ts';

/** Runs work in one transaction, or undoes it and rethrows. */
export type Transaction = (work: () => void) => void;

export function transactions(database: Database): Transaction {
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  return (work) => {
    begin.run();
    try {
      work();
      commit.run();
    } catch (error) {
      // After a full disk SQLite has rolled back already.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
}
