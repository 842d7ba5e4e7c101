import { v7 as uuidv7 } from 'uuid';
import type { Agents } from './agents.ts';
import { splice } from './answers.ts';
import type { Connection } from './connection.ts';
import type { Decoded } from './decode.ts';
import { toLevelZero } from './level-zero.ts';
import type { Sink } from './mailbox.ts';
import type { Recent } from './recent.ts';
import { rowOf, type Stamp } from './row.ts';
import type { LogRow, StoredMessage } from './storage.ts';
import type { Turn } from './turn.ts';

type Listener = (message: StoredMessage) => void;

/** Writes messages into the log and hands them, once durable, to whom they are for and to whoever listens. */
export class Post {
  readonly #turn: Turn;
  readonly #agents: Agents;
  readonly #recent: Recent;
  readonly #listeners = new Set<Listener>();

  constructor(turn: Turn, agents: Agents, recent: Recent) {
    this.#turn = turn;
    this.#agents = agents;
    this.#recent = recent;
  }

  /** Hears every message after its commit, in order. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Logs a frame that `sender` sent; `then` runs once it is durable. Returns the frame's id. */
  relay(sender: string, decoded: Decoded, stamp: Stamp = {}, then: Listener = () => undefined): string {
    const row = rowOf(sender, decoded, stamp);
    this.#write(row, then);
    return row.id;
  }

  /** Logs a message of the hub itself for one name. */
  tell(name: string, type: string, taskId: string, payload: unknown, attempt?: number): void {
    const id = uuidv7();
    const frame = {
      type,
      from: 'hub',
      to: name,
      task_id: taskId,
      payload,
      id,
      ...(attempt !== undefined && { attempt }),
    };
    const body = Buffer.from(JSON.stringify(frame));
    this.#write({ type, from: 'hub', to: name, box: name, taskId, id, attempt: attempt ?? null, body });
  }

  /** Logs a row as it is. */
  record(row: LogRow): void {
    this.#write(row);
  }

  #write(row: LogRow, then: Listener = () => undefined): void {
    this.#recent.set(row.from, row.id, 0);
    if (row.box !== null) this.#agents.get(row.box)?.mailbox?.announce(row.body.length);
    this.#turn.message(row, (message) => {
      this.#recent.set(row.from, row.id, message.lsn);
      then(message);
      if (message.box !== null) this.#deliver(message, message.box);
      for (const listener of this.#listeners) listener(message);
    });
  }

  /** What can be handed to nobody, now or later, is a dead letter; what level 0 is not told anyway is none. */
  #deliver(message: StoredMessage, box: string): void {
    const mailbox = this.#agents.get(box)?.mailbox;
    if (mailbox !== undefined) mailbox.push(message);
    else if (toLevelZero(message) !== undefined) {
      this.#turn.change({ kind: 'dead', box, after: message.lsn - 1, upto: message.lsn, reason: 'offline' });
    }
  }
}

/** Where a connection's mailbox is emptied to. */
export function sinkOf(connection: Connection, softBuffer: number): Sink {
  const full = () => !connection.open || connection.queued > softBuffer;
  if (connection.level === 0) {
    return {
      full,
      deliver: (message) => {
        const text = toLevelZero(message);
        if (text !== undefined) connection.send(text, message.type);
      },
    };
  }
  return {
    full,
    deliver: ({ body, lsn, ts, type }, prev, again) => {
      if (again) connection.metrics.redelivered += 1;
      connection.send(
        splice(
          body.toString(),
          `"lsn":${lsn},"ts":${ts},"seq":${lsn},"prev":${prev}${again ? ',"redelivered":1' : ''}`,
        ),
        type,
      );
    },
  };
}
