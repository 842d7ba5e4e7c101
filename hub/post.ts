import { v7 as uuidv7 } from 'uuid';
import type { Agents } from './agents.ts';
import type { Decoded } from './decode.ts';
import { isForLevelZero } from './level-zero.ts';
import { rowOf, type Stamp } from './row.ts';
import type { LogRow, StoredMessage } from './storage.ts';
import type { Carrier, OutgoingMessage, Turn } from './turn.ts';

type Listener = (message: StoredMessage) => void;

/** Writes messages into the log and hands them, once durable, to whom they are for and to whoever listens. */
export class Post implements Carrier {
  readonly #turn: Turn;
  readonly #agents: Agents;
  readonly #listeners = new Set<Listener>();
  readonly #levelZero: () => void;
  /** What else follows a message; few have any. */
  readonly #then = new WeakMap<StoredMessage, Listener>();

  /** `levelZero` hears of every message that is told to a level-0 peer, or was for one. */
  constructor(turn: Turn, agents: Agents, levelZero: () => void) {
    this.#turn = turn;
    this.#levelZero = levelZero;
    this.#agents = agents;
    turn.carriedBy(this);
  }

  /** Hears every message after its commit, in order. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Logs a frame that `sender` sent; `then` runs once it is durable. Returns the frame's id. */
  relay(sender: string, decoded: Decoded, stamp: Stamp = {}, then?: Listener): string {
    const message = rowOf(sender, decoded, stamp);
    this.#agents.get(sender)?.recent.set(message.id, 0);
    if (then !== undefined) this.#then.set(message, then);
    this.#write(message);
    return message.id;
  }

  /** Logs a message of the hub itself for one name; `box` null leaves it to whoever reads the log. */
  tell(
    name: string,
    type: string,
    { taskId, attempt, box }: { taskId: string; attempt: number | undefined; box: string | null },
    payload: unknown,
  ): void {
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
    this.#write({ type, from: 'hub', to: name, box, taskId, id, attempt: attempt ?? null, body, lsn: 0, ts: 0 });
  }

  /** Logs a word of the hub about itself: for nobody, and for whoever reads the log. */
  note(type: string, payload: unknown): void {
    const id = uuidv7();
    const body = Buffer.from(JSON.stringify({ type, from: 'hub', to: 'hub', task_id: '', payload, id }));
    this.#write({ type, from: 'hub', to: 'hub', box: null, taskId: '', id, attempt: null, body, lsn: 0, ts: 0 });
  }

  /** Logs a row as it is. */
  record(row: LogRow): void {
    this.#write({ ...row, lsn: 0, ts: 0 });
  }

  /** Called for every message after its commit, in log order. */
  carry(message: StoredMessage): void {
    this.#agents.get(message.from)?.recent.set(message.id, message.lsn);
    this.#then.get(message)?.(message);
    if (message.box !== null) this.#deliver(message, message.box);
    for (const listener of this.#listeners) listener(message);
  }

  #write(message: OutgoingMessage): void {
    if (message.box !== null) this.#agents.get(message.box)?.mailbox?.announce(message.body.length);
    this.#turn.message(message);
  }

  /** What can be handed to nobody, now or later, is a dead letter; what level 0 is not told anyway is none. */
  #deliver(message: StoredMessage, box: string): void {
    const agent = this.#agents.get(box);
    const mailbox = agent?.mailbox;
    if (agent?.level !== 1) this.#levelZero();
    if (mailbox !== undefined) mailbox.push(message);
    else if (isForLevelZero(message)) {
      this.#turn.change({ kind: 'dead', box, after: message.lsn - 1, upto: message.lsn, reason: 'offline' });
    }
  }
}
