import { AppError } from '../base/errors.ts';
import type { Clock } from '../base/time.ts';
import type { Frame, FrameOf, FrameType } from '../protocol/index.ts';
import { type Answers, type AskOptions, answers } from './hub-client.ts';
import type { Keep, Outbox } from './outbox.ts';
import type { WireFrame } from './outgoing.ts';

/** What the hub keeps nothing of: it is asked again after a reconnect, until it is answered. */
const QUERIES: ReadonlySet<FrameType> = new Set(['ping', 'who', 'tasks', 'log']);

interface Waiter {
  readonly answer: FrameType;
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: AppError) => void;
}

/** Frames whose senders wait for an answer, and who they are. */
export class Questions {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Waiter>();

  constructor(outbox: Outbox, clock: Clock) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Sends a frame and resolves with what answers it; rejects with the hub's refusal, `timeout`, or the signal's reason. */
  async ask<T extends keyof Answers>(
    type: T,
    frame: WireFrame,
    { timeoutMs, signal }: AskOptions,
  ): Promise<FrameOf<Answers[T]>> {
    signal?.throwIfAborted();
    const keep: Keep = QUERIES.has(type) ? 'query' : 'durable';
    let cleanUp = (): void => {};
    const answer = new Promise<Frame>((resolve, reject) => {
      this.#waiters.set(frame.id, { answer: answers[type], resolve, reject });
      const abort = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      const timer = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => reject(late(type)));
      cleanUp = () => {
        signal?.removeEventListener('abort', abort);
        timer?.cancel();
      };
      this.#outbox.add(frame, keep).catch(reject);
    });
    try {
      return (await answer) as FrameOf<Answers[T]>;
    } finally {
      cleanUp();
      this.#waiters.delete(frame.id);
      if (keep === 'query') this.#outbox.forget(frame.id);
    }
  }

  /** Hands a frame to who waits for it; false when nobody does. */
  answered(frame: Frame): boolean {
    const waiter = frame.ref === undefined ? undefined : this.#waiters.get(frame.ref);
    if (waiter?.answer !== frame.type) return false;
    waiter.resolve(frame);
    return true;
  }

  /** Tells who waits for an answer to the frame `id` that there will be none; false when nobody does. */
  refused(id: string, error: AppError): boolean {
    const waiter = this.#waiters.get(id);
    waiter?.reject(error);
    return waiter !== undefined;
  }

  /** Tells all who wait. */
  fail(reason: AppError): void {
    for (const waiter of [...this.#waiters.values()]) waiter.reject(reason);
  }
}

function late(type: FrameType): AppError {
  return new AppError('timeout', `Nobody answered the ${type} in time.`);
}
