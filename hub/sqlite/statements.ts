import type { Database } from '../../base/sqlite.ts';

type Statement = ReturnType<Database['prepare']>;

/** Prepares each statement once. */
export function statements(database: Database): (sql: string) => Statement {
  const prepared = new Map<string, Statement>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
}

export type Prepare = ReturnType<typeof statements>;
