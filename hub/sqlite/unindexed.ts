import type { LogRow, StoredMessage } from '../storage.ts';
import type { OpenBatch } from './batch.ts';
import { isRot, standIn } from './rot.ts';

/** Frames from this size on are few, and their memory is worth more than the read that brings them back. */
const LARGE = 16 * 1024;

/** A message without its frame, which is read from the log when it is asked for. */
type Bare = Omit<LogRow, 'body'> & { readonly bytes: number };

/** What is known of a message, with its frame or without. */
export type Known = LogRow | Bare;

/** Opens the batch that holds a position. */
type Open = (lsn: number) => OpenBatch | undefined;

/**
 * The newest messages, which the index does not know yet: kept in memory, since they are also what is asked for most, but
 * for large frames.
 */
export class Unindexed {
  readonly #open: Open;
  #first = 1;
  readonly #messages: (Known | undefined)[] = [];
  readonly #times: number[] = [];
  #bytes = 0;

  /** `open` finds frames that are not kept. */
  constructor(open: Open) {
    this.#open = open;
  }

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
    this.#messages.push(row.body.length < LARGE ? row : bare(row));
    this.#times.push(ts);
    this.#bytes += row.body.length;
  }

  /** What is known of the message at a position; undefined when it was trimmed. */
  row(lsn: number): Known | undefined {
    return this.#messages[lsn - this.#first];
  }

  /** When what is at a position was committed. */
  time(lsn: number): number {
    return this.#times[lsn - this.#first] as number;
  }

  at(lsn: number): StoredMessage | undefined {
    return this.#message(lsn, this.#open);
  }

  /** Messages after a position, in order; those for one mailbox only when `box` names it. */
  *after(lsn: number, box?: string): Generator<StoredMessage> {
    const open = opener(this.#open);
    for (let position = Math.max(lsn + 1, this.#first); position <= this.last; position += 1) {
      if (box !== undefined && this.row(position)?.box !== box) continue;
      const message = this.#message(position, open);
      if (message !== undefined) yield message;
    }
  }

  /** Messages before a position, the newest first. */
  *backwards(beforeLsn: number): Generator<StoredMessage> {
    const open = opener(this.#open);
    for (let position = Math.min(this.last, beforeLsn - 1); position >= this.#first; position -= 1) {
      const message = this.#message(position, open);
      if (message !== undefined) yield message;
    }
  }

  /** Forgets everything up to a position: it is indexed now. */
  dropUpTo(lsn: number): void {
    if (lsn < this.#first) return;
    const gone = this.#messages.splice(0, lsn - this.#first + 1);
    this.#times.splice(0, gone.length);
    for (const row of gone) this.#bytes -= bytesOf(row);
    this.#first = lsn + 1;
  }

  /** Forgets what was trimmed. */
  remove(first: number, last: number): void {
    for (let position = Math.max(first, this.#first); position <= Math.min(last, this.last); position += 1) {
      this.#bytes -= bytesOf(this.#messages[position - this.#first]);
      this.#messages[position - this.#first] = undefined;
    }
  }

  #message(lsn: number, open: Open): StoredMessage | undefined {
    const row = this.row(lsn);
    if (row === undefined) return undefined;
    return 'body' in row ? stored(row, lsn, this.#times[lsn - this.#first] as number) : readAgain(open, lsn, row.box);
  }
}

/** A frame that was not kept. */
function readAgain(open: Open, lsn: number, box: string | null): StoredMessage | undefined {
  try {
    return open(lsn)?.message(lsn);
  } catch (error) {
    if (!isRot(error)) throw error;
    return standIn(lsn, 0, box);
  }
}

/** Size of a message's frame; 0 of none. */
export function bytesOf(row: Known | undefined): number {
  if (row === undefined) return 0;
  return 'body' in row ? row.body.length : row.bytes;
}

function bare({ type, from, to, box, taskId, id, attempt, body }: LogRow): Bare {
  return { type, from, to, box, taskId, id, attempt, bytes: body.length };
}

/** Opens each batch once while its messages are asked for one after the other. */
function opener(open: Open): Open {
  let batch: OpenBatch | undefined;
  return (lsn) => {
    if (batch === undefined || lsn < batch.first || lsn > batch.last) batch = open(lsn);
    return batch;
  };
}

/** Written out, since spreading a row is slow and this is done for every message that waits. */
function stored({ type, from, to, box, taskId, id, attempt, body }: LogRow, lsn: number, ts: number): StoredMessage {
  return { type, from, to, box, taskId, id, attempt, body, lsn, ts };
}
