import type { LogRow, StoredMessage } from '../storage.ts';
import { headOf } from './head.ts';
import { readFromLog } from './leftovers.ts';
import { standIn } from './rot.ts';

/** Messages and bytes of one batch; a single larger frame is a batch of its own. */
const MOST = { messages: 256, bytes: 256 * 1024 };

/** Where a frame lies among the bytes of its batch, and whose mailbox it went to. */
export type Mark = readonly [start: number, length: number, box: string | null];

/** A row of `batch`: consecutive messages of one commit as a JSON array, and where each frame lies in it. */
export interface Batch {
  readonly first: number;
  readonly ts: number;
  readonly count: number;
  readonly marks: string;
  readonly frames: Uint8Array;
}

/** What of a message is stored: the rest stands in its body. */
type Packed = Pick<LogRow, 'body' | 'box'>;

/**
 * Packs messages into batches, into the same piece of memory each time: a new one for each is written once and lies about
 * until it is collected. A large frame has a piece of its own.
 */
export class Packer {
  readonly #room = Buffer.allocUnsafeSlow(MOST.bytes + MOST.messages + 1);

  /** The batches of one commit, numbered from `first`; each is good until the next one is asked for. */
  *pack(rows: readonly Packed[], first: number, ts: number): Generator<Batch> {
    let from = 0;
    while (from < rows.length) {
      const to = endOf(rows, from);
      yield this.#packOne(rows, { from, to }, first + from, ts);
      from = to;
    }
  }

  #packOne(rows: readonly Packed[], { from, to }: { from: number; to: number }, first: number, ts: number): Batch {
    let size = 1;
    for (let index = from; index < to; index += 1) size += (rows[index] as Packed).body.length + 1;
    const frames = size <= this.#room.length ? this.#room.subarray(0, size) : Buffer.allocUnsafe(size);
    const marks: Mark[] = [];
    let at = 1;
    for (let index = from; index < to; index += 1) {
      const { body, box } = rows[index] as Packed;
      frames[at - 1] = index === from ? OPEN : COMMA;
      marks.push([at, body.length, box]);
      body.copy(frames, at);
      at += body.length + 1;
    }
    frames[size - 1] = CLOSE;
    return { first, ts, count: to - from, marks: JSON.stringify(marks), frames };
  }
}

const [OPEN, COMMA, CLOSE, OPEN_FRAME, CLOSE_FRAME] = [0x5b, 0x2c, 0x5d, 0x7b, 0x7d];

/** Whether messages find room in one batch. */
export function isOneBatch(rows: readonly Packed[]): boolean {
  return endOf(rows, 0) === rows.length;
}

function endOf(rows: readonly Packed[], from: number): number {
  let to = from;
  let bytes = 0;
  while (to < rows.length && to - from < MOST.messages) {
    bytes += (rows[to] as Packed).body.length;
    if (to > from && bytes > MOST.bytes) break;
    to += 1;
  }
  return to;
}

/** One batch, opened: its messages can be read one by one. */
export class OpenBatch {
  readonly first: number;
  /** Position of its last message. */
  readonly last: number;
  readonly ts: number;
  /** Read when a message is asked for: most batches are only looked through. */
  #marks: readonly Mark[] | undefined;
  readonly #marksText: string;
  readonly #frames: Buffer;

  constructor({ first, ts, count, marks, frames }: Batch) {
    this.first = first;
    this.last = first + count - 1;
    this.ts = ts;
    this.#marksText = marks;
    this.#frames = Buffer.from(frames.buffer, frames.byteOffset, frames.byteLength);
    readFromLog(frames.byteLength);
  }

  get size(): number {
    return this.#frames.length;
  }

  /** Whether a text occurs in a frame, or in a mailbox's name. */
  mentions(text: string): boolean {
    return this.#frames.includes(text) || this.#marksText.includes(text);
  }

  /** The message at a position that lies in this batch. */
  message(lsn: number): StoredMessage {
    let box: string | null = null;
    try {
      this.#marks ??= JSON.parse(this.#marksText) as Mark[];
      const mark = this.#marks[lsn - this.first] as Mark;
      box = mark[2];
      const body = this.#frames.subarray(mark[0], mark[0] + mark[1]);
      if (!isWrapped(body)) throw new SyntaxError('no frame lies there');
      return toMessage(body, { lsn, ts: this.ts, box });
    } catch {
      return standIn(lsn, this.ts, box);
    }
  }
}

/** Whether bytes begin and end as a JSON object does, blanks around it apart: senders may write some. */
function isWrapped(body: Buffer): boolean {
  let [from, to] = [0, body.length - 1];
  while (isBlank(body[from])) from += 1;
  while (isBlank(body[to])) to -= 1;
  return body[from] === OPEN_FRAME && body[to] === CLOSE_FRAME;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** What a message says of itself is read from its frame, which is the only place that has it. */
function toMessage(body: Buffer, where: { lsn: number; ts: number; box: string | null }): StoredMessage {
  const { type, from, to, task_id: taskId, id, attempt = null } = headOf(body);
  if (type === undefined || from === undefined || id === undefined) throw new SyntaxError('this is no frame');
  return { lsn: where.lsn, ts: where.ts, type, from, to, box: where.box, taskId, id, attempt, body };
}
