import { v7 as uuid } from 'uuid';
import { AppError } from '../base/errors.ts';
import { sleep } from '../base/time.ts';
import type { ErrorCode, FrameOf, FrameType, LoopEvent, Turn } from '../protocol/index.ts';
import type { HubClient } from './hub-client.ts';
import { LifeSigns } from './life-signs.ts';
import type { Outgoing } from './outgoing.ts';
import { retryPause } from './retry-pause.ts';
import { readTranscript } from './transcript.ts';
import { wireCode } from './wire-error.ts';

/** One attempt at a task, as its worker sees it. */
export interface AssignedTask {
  readonly id: string;
  /** 1 for the first; another number means that somebody began before: see {@link AssignedTask.transcript}. */
  readonly attempt: number;
  /** The task, and what the last attempt left as `checkpoint`. */
  readonly payload: FrameOf<'task.assign'>['payload'];
  /** Aborted when the task is cancelled or lost to another attempt, and when this worker stops; end what runs. */
  readonly signal: AbortSignal;
  /** Something moved: a model delta, tool output. Call it as often as that happens. With `busyUntil` (ms since epoch): a call begins that may be quiet until then. */
  alive(busyUntil?: number): void;
  /** Logs an event; resolves once the hub has it for good. Rejects when the attempt is no longer ours. */
  event(event: LoopEvent | { readonly type: string; readonly [key: string]: unknown }): Promise<void>;
  /**
   * Asks the owner; resolves with the answer. The task's clocks stand still meanwhile, but not before the owner has room for
   * the question: until then it is asked again and again.
   */
  input(question: string): Promise<string>;
  /** Tells people who look on what is going on; kept nowhere but in the log. */
  note(text: string): void;
  /** The turns that all attempts logged so far. */
  transcript(): Promise<Turn[]>;
}

/** Why the work on a task is cut short: `cancelled` by its owner, `lost` to the hub or another attempt, `stopped` by us. */
export type CutShort = 'cancelled' | 'lost' | 'stopped';

const FENCED: ReadonlySet<ErrorCode | undefined> = new Set(['stale_attempt', 'lease_lost', 'no_such_task']);

/** The hub says that this attempt is no longer ours. */
export function isFenced(thrown: unknown): boolean {
  return FENCED.has(wireCode(thrown));
}

/** {@link AssignedTask} with what only `serveTasks` may do. */
export class RunningTask implements AssignedTask {
  readonly id: string;
  readonly attempt: number;
  readonly payload: FrameOf<'task.assign'>['payload'];
  readonly session: string;
  /** Resolves when the worker's function has returned and nothing of it runs any more. */
  readonly settled: Promise<void>;
  readonly #client: HubClient;
  readonly #controller = new AbortController();
  readonly #signs: LifeSigns;
  #settle!: () => void;
  #cut: CutShort | undefined;
  #finished = false;

  constructor(client: HubClient, assign: FrameOf<'task.assign'>, progressMs: number) {
    this.#client = client;
    this.id = assign.task_id;
    this.attempt = assign.attempt ?? 1;
    this.payload = assign.payload;
    this.session = client.session;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#signs = new LifeSigns({
      clock: client.clock,
      everyMs: progressMs,
      send: (sign) => {
        this.#guard(client.send({ ...this.frame('task.progress', sign), once: true })).catch((err: unknown) =>
          client.log.debug({ err, taskId: this.id }, 'progress not taken'),
        );
      },
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Set when the work was cut short. */
  get cut(): CutShort | undefined {
    return this.#cut;
  }

  /** The worker's function has returned; only its result may still be on its way. */
  get finished(): boolean {
    return this.#finished;
  }

  alive(busyUntil?: number): void {
    if (busyUntil === undefined) this.#signs.beat();
    else this.#signs.busy(busyUntil);
  }

  async event(event: LoopEvent | { readonly type: string }): Promise<void> {
    this.#signs.spoken();
    await this.#guard(this.#client.send(this.frame('task.event', { event })));
  }

  async input(question: string): Promise<string> {
    this.#signs.spoken();
    const frame = { ...this.frame('task.input', { question }), id: uuid() };
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await this.#guard(this.#client.ask(frame, { signal: this.signal }));
        return answer.payload.text;
      } catch (error) {
        const pause = retryPause(error, tries);
        if (pause === undefined) throw error;
        await sleep(pause, this.signal);
      }
    }
  }

  note(text: string): void {
    this.#signs.note(text);
  }

  transcript(): Promise<Turn[]> {
    return readTranscript(this.#client.readLog({ task_id: this.id, type: 'task.event' }));
  }

  /** A frame of this attempt to the hub. */
  frame<T extends FrameType>(type: T, payload: NonNullable<Outgoing<T>['payload']>): Outgoing<T> {
    return { type, to: 'hub', task_id: this.id, attempt: this.attempt, payload };
  }

  /** The hub may have missed the last sign of life. */
  reconnected(): void {
    this.#signs.repeat();
  }

  /** Ends the work; the first reason stands. */
  cutShort(why: CutShort, message: string): void {
    if (this.#cut) return;
    this.#cut = why;
    this.#signs.stop();
    this.#controller.abort(new AppError('cancelled', message, { details: { why } }));
  }

  /** The worker's function has returned, or was never called. */
  finish(): void {
    this.#finished = true;
    this.#signs.stop();
    this.#settle();
  }

  async #guard<T>(sent: Promise<T>): Promise<T> {
    try {
      return await sent;
    } catch (error) {
      if (isFenced(error)) this.cutShort('lost', 'The hub gave this task to another attempt.');
      throw error;
    }
  }
}
