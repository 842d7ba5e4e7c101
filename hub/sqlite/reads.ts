import type { Database } from '../../base/sqlite.ts';
import type { DeadLetter, LogFilter, LogPage, StoredMessage, TaskFilter, TaskRecord } from '../storage.ts';
import { statements } from './statements.ts';
import { type PageBounds, StoredLog } from './stored-log.ts';
import { readTaskTable } from './task-rows.ts';

/** The reads that may take long; whoever has a thread to spare does them there. */
export interface LongReads {
  tail(filter: LogFilter, afterLsn: number, bounds: PageBounds): LogPage;
  latest(filter: LogFilter, count: number): readonly StoredMessage[];
  tasks(filter: TaskFilter): readonly TaskRecord[];
  deadLetters(afterLsn: number, limit: number): readonly DeadLetter[];
}

/** Does them on a connection of its own. */
export function longReads(database: Database): LongReads {
  const log = new StoredLog(database);
  const prepare = statements(database);
  return {
    tail: (filter, afterLsn, bounds) => log.page(filter, afterLsn, bounds),
    latest: (filter, count) => log.latest(filter, count),
    tasks: (filter) => readTaskTable(prepare, filter),
    deadLetters: (afterLsn, limit) => log.deadLetters(afterLsn, limit),
  };
}
