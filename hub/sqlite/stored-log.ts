import type { Database } from '../../base/sqlite.ts';
import { fits } from '../log-filter.ts';
import type { DeadLetter, LogFilter, LogPage, MailboxFacts, StoredMessage } from '../storage.ts';
import { batchAt, batchesAfter, messagesAt, messagesOf } from './batches.ts';
import { pieces, piecesBack, positionsOf, type Search } from './pieces.ts';
import { backwards, forwards, idsOf, indexedUpTo, sumOf } from './positions.ts';
import { mustBeSound } from './rot.ts';
import { type Prepare, statements } from './statements.ts';
import { bytesOf, Unindexed } from './unindexed.ts';

/** Messages and bytes that one page looks through at most before it hands back what it has. */
const SCAN = { messages: 20_000, bytes: 16 * 1024 * 1024 };

/** Bytes of bodies, and of batches, that one look into a mailbox takes at most. */
const MAILBOX = { bodies: 1024 * 1024, read: 4 * 1024 * 1024 };

/** Bytes of dead letters that are read at once. */
const LETTERS = 1024 * 1024;

/** What bounds a page: messages, bytes, and the last position it may reach. */
export interface PageBounds {
  readonly limit: number;
  readonly maxBytes: number;
  readonly end: number;
}

/** An id of a sender, and where its message is. */
export interface Recalled {
  readonly id: string;
  readonly lsn: number;
}

/** Reads a log, live or closed: the index as far as it goes, then the messages behind it. */
export class StoredLog {
  readonly #prepare: Prepare;
  readonly #unindexed: () => Unindexed;

  /** `unindexed` has the messages behind the index when they are in memory anyway; else they are read each time. */
  constructor(database: Database, unindexed?: Unindexed) {
    this.#prepare = statements(database);
    this.#unindexed = () => unindexed ?? readUnindexed(this.#prepare);
  }

  /** Position of the newest message that is there; 0 = there is none. */
  last(): number {
    const row = this.#prepare('SELECT first + count - 1 AS last FROM batch ORDER BY first DESC LIMIT 1').get();
    return (row as { last: number } | undefined)?.last ?? 0;
  }

  /** How many messages there are. */
  count(): number {
    return (this.#prepare('SELECT coalesce(sum(count), 0) AS n FROM batch').get() as { n: number }).n;
  }

  at(lsn: number): StoredMessage | undefined {
    const unindexed = this.#unindexed();
    if (lsn >= unindexed.first) return unindexed.at(lsn);
    const [message] = messagesAt(this.#prepare, [lsn]);
    return message;
  }

  /** The next messages of a mailbox: fewer than `limit` when they are large or lie far apart, but one if there is one. */
  mailbox(box: string, afterLsn: number, limit: number): StoredMessage[] {
    const messages: StoredMessage[] = [];
    let [bodies, read] = [MAILBOX.bodies, MAILBOX.read];
    const isLast = (message: StoredMessage) => {
      messages.push(message);
      bodies -= message.body.length;
      return messages.length >= limit || bodies <= 0 || read <= 0;
    };
    const unindexed = this.#unindexed();
    if (!unindexed.hasAllAfter(afterLsn)) {
      const opened = ({ size }: { size: number }) => {
        read -= size;
      };
      const lsns = positionsOf(forwards(this.#prepare, 'box', box, afterLsn), unindexed.first);
      for (const message of messagesAt(this.#prepare, lsns, opened)) {
        if (isLast(message.damaged ? { ...message, box } : message)) return messages;
      }
    }
    for (const message of unindexed.after(afterLsn, box)) if (isLast(message)) break;
    return messages;
  }

  facts(box: string, afterLsn: number): MailboxFacts {
    let { depth, bytes, last } = sumOf(this.#prepare, box, afterLsn);
    const unindexed = this.#unindexed();
    for (let lsn = Math.max(afterLsn + 1, unindexed.first); lsn <= unindexed.last; lsn += 1) {
      const row = unindexed.row(lsn);
      if (row?.box !== box) continue;
      depth += 1;
      bytes += bytesOf(row);
      last = lsn;
    }
    return { depth, bytes, last };
  }

  byTask(taskId: string, id: string): StoredMessage | undefined {
    for (const { messages } of pieces(this.#search(), { taskId }, 0)) {
      for (const message of messages) if (message.taskId === taskId && message.id === id) return message;
    }
    return undefined;
  }

  recentIds(from: string, count: number): Recalled[] {
    const known = this.recentInMemory(from, count);
    return [...this.recentIndexed(from, count - known.length, this.#unindexed().first), ...known];
  }

  /** Those of the last ids of a sender that are not indexed yet. */
  recentInMemory(from: string, count: number): Recalled[] {
    const found: Recalled[] = [];
    const unindexed = this.#unindexed();
    for (let lsn = unindexed.last; lsn >= unindexed.first && found.length < count; lsn -= 1) {
      const row = unindexed.row(lsn);
      if (row?.from === from) found.push({ id: row.id, lsn });
    }
    return found.reverse();
  }

  /** The last ids of a sender before a position. */
  recentIndexed(from: string, count: number, beforeLsn: number): Recalled[] {
    const found: Recalled[] = [];
    let open: { chunk: number; ids: string[] } = { chunk: 0, ids: [] };
    for (const { lsn, chunk } of count > 0 ? backwards(this.#prepare, 'sender', from, beforeLsn) : []) {
      if (chunk !== open.chunk) open = { chunk, ids: idsOf(this.#prepare, chunk) };
      found.push({ id: open.ids[lsn - chunk] ?? '', lsn });
      if (found.length === count) break;
    }
    return found.reverse();
  }

  /** Wall clocks step, so what counts is the newest message that was committed by then. */
  positionAt(ts: number): number {
    const unindexed = this.#unindexed();
    for (let lsn = unindexed.last; lsn >= unindexed.first; lsn -= 1) {
      if (unindexed.row(lsn) !== undefined && unindexed.time(lsn) <= ts) return lsn;
    }
    const chunk = this.#prepare('SELECT max(last) AS last FROM chunk WHERE ts <= ?').get(ts) as { last: number | null };
    const newest = this.#prepare(
      'SELECT first + count - 1 AS last FROM batch WHERE first <= ? AND ts <= ? ORDER BY first DESC LIMIT 1',
    ).get(chunk.last ?? 0, ts) as { last: number } | undefined;
    return Math.min(newest?.last ?? 0, unindexed.first - 1);
  }

  deadLetters(afterLsn: number, limit: number): DeadLetter[] {
    const rows = this.#prepare(
      'SELECT lsn, box, reason, died_at AS diedAt FROM dead WHERE lsn > ? ORDER BY lsn LIMIT ?',
    ).all(afterLsn, limit) as unknown as Omit<DeadLetter, 'message'>[];
    const about = new Map(rows.map((row) => [row.lsn, row]));
    const letters: DeadLetter[] = [];
    let room = LETTERS;
    for (const message of messagesAt(this.#prepare, about.keys())) {
      const row = about.get(message.lsn);
      if (row !== undefined) letters.push({ ...row, message });
      room -= message.body.length;
      if (room <= 0) break;
    }
    return letters;
  }

  /** One piece of the log. */
  page(filter: LogFilter, afterLsn: number, bounds: PageBounds): LogPage {
    const messages: StoredMessage[] = [];
    let room = bounds.maxBytes;
    let [count, bytes] = [SCAN.messages, SCAN.bytes];
    for (const piece of pieces(this.#search(), filter, afterLsn)) {
      for (const message of piece.messages) {
        if (message.lsn > bounds.end) return { messages };
        if (!fits(message, filter)) continue;
        const isFull = messages.length === bounds.limit || (messages.length > 0 && message.body.length > room);
        if (isFull) return { messages, next: messages.at(-1)?.lsn ?? afterLsn };
        room -= message.body.length;
        messages.push(message);
      }
      count -= piece.count;
      bytes -= piece.bytes;
      if (piece.end >= bounds.end) break;
      if (count <= 0 || bytes <= 0) return { messages, next: piece.end };
    }
    return { messages };
  }

  /** One piece of the log before a position, the newest message first; `next` is the position to go on before. */
  pageBack(filter: LogFilter, beforeLsn: number, limit: number, maxBytes: number): LogPage {
    const messages: StoredMessage[] = [];
    let room = maxBytes;
    let [count, bytes] = [SCAN.messages, SCAN.bytes];
    for (const piece of piecesBack(this.#search(), filter, beforeLsn)) {
      for (const message of piece.messages) {
        if (!fits(message, filter)) continue;
        messages.push(message);
        room -= message.body.length;
        if (messages.length === limit || room <= 0) return { messages, next: message.lsn };
      }
      count -= piece.count;
      bytes -= piece.bytes;
      if (count <= 0 || bytes <= 0) return { messages, next: piece.end };
    }
    return { messages };
  }

  /** The newest messages before a position, in log order, as far as that needs no look at the disk. */
  latestInMemory(filter: LogFilter, count: number, beforeLsn: number, maxBytes: number): StoredMessage[] {
    const found: StoredMessage[] = [];
    let room = maxBytes;
    for (const message of this.#unindexed().backwards(beforeLsn)) {
      if (found.length >= count || room <= 0) break;
      if (!fits(message, filter)) continue;
      found.push(message);
      room -= message.body.length;
    }
    return found.reverse();
  }

  #search(): Search {
    return { prepare: this.#prepare, unindexed: this.#unindexed() };
  }
}

/** What lies behind the index, read from the log. */
export function readUnindexed(prepare: Prepare): Unindexed {
  const unindexed = new Unindexed((lsn) => batchAt(prepare, lsn));
  const indexed = indexedUpTo(prepare);
  unindexed.startAt(indexed + 1);
  for (const batch of batchesAfter(prepare, indexed)) {
    for (const message of messagesOf(batch, indexed)) {
      mustBeSound(message);
      unindexed.add(message.lsn, message, message.ts);
    }
  }
  return unindexed;
}
