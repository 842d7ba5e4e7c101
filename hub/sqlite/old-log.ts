import type { Database } from '../../base/sqlite.ts';
import { fits } from '../log-filter.ts';
import type { DeadLetter, LogFilter, LogPage, StoredMessage } from '../storage.ts';
import { type Prepare, statements } from './statements.ts';
import { type PageBounds, StoredLog } from './stored-log.ts';

/** What a log can be asked by those who only read it. */
export interface ReadableLog {
  /** Position of the newest message that is there; 0 = there is none. */
  last(): number;
  /** How many messages there are. */
  count(): number;
  /** Position of the newest message committed at or before `ts`; 0 = there is none. */
  positionAt(ts: number): number;
  page(filter: LogFilter, afterLsn: number, bounds: PageBounds): LogPage;
  /** Messages before a position, the newest first; `next` is the position to go on before. */
  pageBack(filter: LogFilter, beforeLsn: number, limit: number, maxBytes: number): LogPage;
  /** Dead letters after a position; those of a log that is not yet in the new form are not told. */
  deadLetters(afterLsn: number, limit: number): DeadLetter[];
}

/** The log in a database of any version, read as it is: nothing is brought to a new form. */
export function readableLog(database: Database): ReadableLog {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('log', 'old_log', 'batch')")
    .all()
    .map(({ name }) => name as string);
  const old = tables.find((name) => name !== 'batch');
  const stored = tables.includes('batch') ? new StoredLog(database) : undefined;
  if (old === undefined) return stored ?? new StoredLog(database);
  const rows = new OldLog(database, old);
  return stored === undefined ? rows : joined(stored, rows);
}

/** A log that was left while its rows were being packed: what is packed comes first. */
function joined(first: ReadableLog, second: ReadableLog): ReadableLog {
  return {
    last: () => second.last() || first.last(),
    count: () => first.count() + second.count(),
    positionAt: (ts) => second.positionAt(ts) || first.positionAt(ts),
    deadLetters: (afterLsn, limit) => first.deadLetters(afterLsn, limit),
    page: (filter, afterLsn, bounds) => {
      const border = first.last();
      if (afterLsn >= border) return second.page(filter, afterLsn, bounds);
      const page = first.page(filter, afterLsn, bounds);
      return page.next === undefined && border < bounds.end ? { ...page, next: border } : page;
    },
    pageBack: (filter, beforeLsn, limit, maxBytes) => {
      const border = first.last();
      if (beforeLsn <= border + 1) return first.pageBack(filter, beforeLsn, limit, maxBytes);
      const page = second.pageBack(filter, beforeLsn, limit, maxBytes);
      return page.next === undefined ? { ...page, next: border + 1 } : page;
    },
  };
}

type OldRow = Omit<StoredMessage, 'body'> & { readonly body: string };

/** The rows of versions 1 and 2. */
class OldLog implements ReadableLog {
  readonly #prepare: Prepare;
  readonly #table: string;

  constructor(database: Database, table: string) {
    this.#prepare = statements(database);
    this.#table = table;
  }

  last(): number {
    return this.#number('SELECT coalesce(max(lsn), 0) AS n FROM');
  }

  count(): number {
    return this.#number('SELECT count(*) AS n FROM');
  }

  positionAt(ts: number): number {
    return this.#number('SELECT coalesce(max(lsn), 0) AS n FROM', 'WHERE ts <= ?', ts);
  }

  page(filter: LogFilter, afterLsn: number, { limit, maxBytes, end }: PageBounds): LogPage {
    const messages: StoredMessage[] = [];
    let room = maxBytes;
    for (const row of this.#rows('lsn > ? AND lsn <= ? ORDER BY lsn', afterLsn, end)) {
      if (!fits(row, filter)) continue;
      const message = { ...row, body: Buffer.from(row.body) };
      const isFull = messages.length === limit || (messages.length > 0 && message.body.length > room);
      if (isFull) return { messages, next: messages.at(-1)?.lsn ?? afterLsn };
      room -= message.body.length;
      messages.push(message);
    }
    return { messages };
  }

  pageBack(filter: LogFilter, beforeLsn: number, limit: number, maxBytes: number): LogPage {
    const messages: StoredMessage[] = [];
    let room = maxBytes;
    for (const row of this.#rows('lsn < ? ORDER BY lsn DESC', Math.min(beforeLsn, Number.MAX_SAFE_INTEGER))) {
      if (!fits(row, filter)) continue;
      messages.push({ ...row, body: Buffer.from(row.body) });
      room -= row.body.length;
      if (messages.length === limit || room <= 0) return { messages, next: row.lsn };
    }
    return { messages };
  }

  deadLetters(): DeadLetter[] {
    return [];
  }

  #rows(where: string, ...values: number[]): Iterable<OldRow> {
    const rows = this.#prepare(
      `SELECT lsn, ts, type, src AS "from", dst AS "to", box, task_id AS taskId, id, attempt, body
       FROM ${this.#table} WHERE ${where}`,
    ).iterate(...values);
    return rows as Iterable<unknown> as Iterable<OldRow>;
  }

  #number(select: string, where = '', ...values: number[]): number {
    return (this.#prepare(`${select} ${this.#table} ${where}`).get(...values) as { n: number }).n;
  }
}
