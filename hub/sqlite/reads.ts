import type { Database } from '../../base/sqlite.ts';
import type { DeadLetter, LogFilter, LogPage, TaskFilter, TaskRecord } from '../storage.ts';
import { statements } from './statements.ts';
import { type PageBounds, type Recalled, StoredLog } from './stored-log.ts';
import { readTaskTable } from './task-rows.ts';
import { Unindexed } from './unindexed.ts';

/** The reads that may take long; whoever has a thread to spare does them there. What the index does not know yet is not their part. */
export interface LongReads {
  tail(filter: LogFilter, afterLsn: number, bounds: PageBounds): LogPage;
  pageBack(filter: LogFilter, beforeLsn: number, limit: number, maxBytes: number): LogPage;
  recentIds(from: string, count: number, beforeLsn: number): readonly Recalled[];
  tasks(filter: TaskFilter): readonly TaskRecord[];
  deadLetters(afterLsn: number, limit: number): readonly DeadLetter[];
}

/** Does them on a connection of its own. */
export function longReads(database: Database): LongReads {
  // Nothing is behind the index, as far as this one is concerned.
  const unindexed = new Unindexed(() => undefined);
  const log = new StoredLog(database, unindexed);
  const prepare = statements(database);
  return {
    tail: (filter, afterLsn, bounds) => {
      unindexed.startAt(bounds.end + 1);
      return log.page(filter, afterLsn, bounds);
    },
    pageBack: (filter, beforeLsn, limit, maxBytes) => {
      unindexed.startAt(beforeLsn);
      return log.pageBack(filter, beforeLsn, limit, maxBytes);
    },
    recentIds: (from, count, beforeLsn) => log.recentIndexed(from, count, beforeLsn),
    tasks: (filter) => readTaskTable(prepare, filter),
    deadLetters: (afterLsn, limit) => log.deadLetters(afterLsn, limit),
  };
}
