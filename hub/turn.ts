import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import type { Metrics } from './metrics.ts';
import type { Change, LogRow, Storage, StoredMessage } from './storage.ts';

type Effect = () => void;

/** Something that collects what it has to say and says it once a turn. */
export interface Flushable {
  flush(): void;
}

/** A message on its way into the log and out again: one object, whose number and time the commit fills in. */
export interface OutgoingMessage extends LogRow {
  lsn: number;
  ts: number;
}

/** Who hands messages on once they are durable. */
export interface Carrier {
  carry(message: StoredMessage): void;
}

interface Batch {
  readonly changes: Change[];
  /** The messages among `changes`, in their order. */
  readonly messages: OutgoingMessage[];
  readonly effects: Effect[];
}

/**
 * Group commit: everything that happens in one turn of the event loop is one transaction, and what follows from it
 * (deliveries, answers) happens after it, in order. A failed commit ends the hub, since its memory is ahead of its disk.
 */
export class Turn {
  /** What is counted of this hub. */
  readonly metrics: Metrics;
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #log: Log;
  #carrier: Carrier | undefined;
  #before: Effect[] = [];
  #dirty: Flushable[] = [];
  #batch: Batch = emptyBatch();
  #scheduled = false;
  #began = 0;
  #broken = false;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: {
    storage: Storage;
    clock: Clock;
    log: Log;
    metrics: Metrics;
    failed: (error: unknown) => void;
  }) {
    this.metrics = parts.metrics;
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#failed = parts.failed;
  }

  /** The turn that collects now; another object each turn. */
  get current(): object {
    return this.#batch;
  }

  /** Names who hands messages on. */
  carriedBy(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  /** Writes a message; once it is durable and has its number it is handed on. */
  message(message: OutgoingMessage): void {
    this.#batch.changes.push({ kind: 'message', row: message });
    this.#batch.messages.push(message);
    this.#schedule();
  }

  change(change: Exclude<Change, { kind: 'message' }>): void {
    this.#batch.changes.push(change);
    this.#schedule();
  }

  /** Runs `work`, whose changes are still of this turn, right before its commit; to be called once before each run. */
  before(work: Effect): void {
    this.#before.push(work);
    this.#schedule();
  }

  /** Runs `effect` after the commit of this turn and the deliveries of its messages. */
  after(effect: Effect): void {
    this.#batch.effects.push(effect);
    this.#schedule();
  }

  /** Has `flushable` flushed at the end of this turn; to be called once before each flush. */
  touch(flushable: Flushable): void {
    this.#dirty.push(flushable);
    this.#schedule();
  }

  /** Resolves when everything until now is committed and said. */
  async settled(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#running;
    } while (this.#scheduled);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#began = performance.now();
    setImmediate(() => {
      this.#running = this.#running.then(() => this.#run());
    });
  }

  async #run(): Promise<void> {
    for (let work = this.#before.shift(); work !== undefined; work = this.#before.shift()) this.#guarded(work);
    this.#scheduled = false;
    const batch = this.#batch;
    this.#batch = emptyBatch();
    if (this.#broken) return;
    const began = this.#began;
    const ts = this.#clock.now();
    let lsns: readonly number[];
    try {
      lsns = batch.changes.length > 0 ? await this.#commit(batch.changes, ts) : [];
    } catch (error) {
      this.#broken = true;
      this.#failed(error);
      return;
    }
    this.#carry(batch.messages, lsns, ts);
    for (const effect of batch.effects) this.#guarded(effect);
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const flushable of dirty) this.#guarded(() => flushable.flush());
    if (batch.messages.length > 0) {
      this.metrics.route.observe((performance.now() - began) / 1000, batch.messages.length);
    }
  }

  async #commit(changes: readonly Change[], ts: number): Promise<readonly number[]> {
    const began = performance.now();
    const lsns = await this.#storage.commit(changes, ts);
    this.metrics.commit.observe((performance.now() - began) / 1000);
    this.metrics.commitBatch.observe(changes.length);
    return lsns;
  }

  #carry(messages: readonly OutgoingMessage[], lsns: readonly number[], ts: number): void {
    for (let index = 0; index < messages.length; index += 1) {
      const message = messages[index] as OutgoingMessage;
      message.lsn = lsns[index] as number;
      message.ts = ts;
      try {
        this.#carrier?.carry(message);
      } catch (error) {
        this.#apologise(error);
      }
    }
  }

  /** One recipient that cannot be served must not keep the others from being served. */
  #guarded(effect: Effect): void {
    try {
      effect();
    } catch (error) {
      this.#apologise(error);
    }
  }

  #apologise(error: unknown): void {
    this.#log.error({ err: error }, 'an effect of a commit failed');
  }
}

function emptyBatch(): Batch {
  return { changes: [], messages: [], effects: [] };
}
