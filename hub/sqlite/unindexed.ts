import type { LogRow, StoredMessage } from '../storage.ts';

/** The newest messages, which the index does not know yet: kept in memory, since they are also what is asked for most. */
export class Unindexed {
  #first = 1;
  readonly #messages: (LogRow | undefined)[] = [];
  readonly #times: number[] = [];
  #bytes = 0;

  /** Position of the first one; what lies before is indexed. */
  get first(): number {
    return this.#first;
  }

  /** Position of the last one. */
  get last(): number {
    return this.#first + this.#messages.length - 1;
  }

  get size(): number {
    return this.#messages.length;
  }

  /** How many lie behind a position. */
  countAfter(lsn: number): number {
    return this.last - Math.max(lsn, this.#first - 1);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether everything after a position is in memory. */
  hasAllAfter(lsn: number): boolean {
    return lsn >= this.#first - 1;
  }

  /** Says where the next message goes when there is none yet. */
  startAt(lsn: number): void {
    if (this.#messages.length === 0) this.#first = lsn;
  }

  /** Positions only grow; those left out were trimmed. */
  add(lsn: number, row: LogRow, ts: number): void {
    if (this.#messages.length === 0) this.#first = lsn;
    while (this.last < lsn - 1) {
      this.#messages.push(undefined);
      this.#times.push(ts);
    }
    this.#messages.push(row);
    this.#times.push(ts);
    this.#bytes += row.body.length;
  }

  /** What is at a position; undefined when it was trimmed. */
  row(lsn: number): LogRow | undefined {
    return this.#messages[lsn - this.#first];
  }

  /** When what is at a position was committed. */
  time(lsn: number): number {
    return this.#times[lsn - this.#first] as number;
  }

  at(lsn: number): StoredMessage | undefined {
    const row = this.#messages[lsn - this.#first];
    return row === undefined ? undefined : stored(row, lsn, this.#times[lsn - this.#first] as number);
  }

  /** Messages after a position, in order. */
  *after(lsn: number): Generator<StoredMessage> {
    for (let position = Math.max(lsn + 1, this.#first); position <= this.last; position += 1) {
      const message = this.at(position);
      if (message !== undefined) yield message;
    }
  }

  /** Messages before a position, the newest first. */
  *backwards(beforeLsn = Number.POSITIVE_INFINITY): Generator<StoredMessage> {
    for (let position = Math.min(this.last, beforeLsn - 1); position >= this.#first; position -= 1) {
      const message = this.at(position);
      if (message !== undefined) yield message;
    }
  }

  /** Forgets everything up to a position: it is indexed now. */
  dropUpTo(lsn: number): void {
    if (lsn < this.#first) return;
    const gone = this.#messages.splice(0, lsn - this.#first + 1);
    this.#times.splice(0, gone.length);
    for (const row of gone) this.#bytes -= row?.body.length ?? 0;
    this.#first = lsn + 1;
  }

  /** Forgets what was trimmed. */
  remove(first: number, last: number): void {
    for (let position = Math.max(first, this.#first); position <= Math.min(last, this.last); position += 1) {
      this.#bytes -= this.#messages[position - this.#first]?.body.length ?? 0;
      this.#messages[position - this.#first] = undefined;
    }
  }
}

/** Written out, since spreading a row is slow and this is done for every message that waits. */
function stored({ type, from, to, box, taskId, id, attempt, body }: LogRow, lsn: number, ts: number): StoredMessage {
  return { type, from, to, box, taskId, id, attempt, body, lsn, ts };
}
