import type { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { createMasker, type Masker } from '../../base/mask.ts';
import { startThread } from '../../base/thread.ts';
import type { Exchange } from './format.ts';
import { type KeptReply, maskReply, type Reading } from './mask-reply.ts';
import type { LongReply } from './mask-thread.ts';

/** Longer replies are masked in a thread, so that nothing else waits for them. Characters. */
const LONG = 128 * 1024;
/** How long the end of a run waits for them, ms. */
const PATIENCE = 10_000;

type Done = (kept: KeptReply) => void;

/** Masks replies; long ones without blocking the process. */
export class ReplyMasker {
  /** For everything else. */
  readonly masker: Masker;
  readonly #secrets: readonly string[];
  readonly #log: Log;
  /** Whom the thread owes an answer, in its order. */
  #waiting: Done[] = [];
  #thread: Worker | undefined;
  #onIdle: (() => void) | undefined;

  constructor(secrets: readonly string[], log: Log) {
    this.#secrets = secrets;
    this.#log = log;
    this.masker = createMasker(secrets);
  }

  /** Calls `done` once, with a reply that short at once. */
  mask(chunks: Exchange['chunks'], reading: Reading, done: Done): void {
    const length = chunks.reduce((sum, [, text]) => sum + text.length, 0);
    if (length <= LONG) {
      done(maskReply(chunks, reading, this.masker));
      return;
    }
    this.#thread ??= this.#start();
    this.#thread.ref();
    this.#waiting.push(done);
    this.#thread.postMessage({ chunks, reading } satisfies LongReply);
  }

  /** Resolves when all are masked. What takes longer than 10 s is left out. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(() => this.#giveUp(), PATIENCE);
        this.#onIdle = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = startThread(import.meta.url, './mask-thread', this.#secrets);
    thread.on('message', (kept: KeptReply) => {
      this.#waiting.shift()?.(kept);
      if (this.#waiting.length > 0) return;
      thread.unref();
      this.#onIdle?.();
    });
    thread.on('error', (error) =>
      this.#log.error({ reason: messageOf(error) }, 'long replies cannot be masked and are left out'),
    );
    thread.on('exit', () => {
      this.#thread = undefined;
      this.#giveUp();
    });
    return thread;
  }

  /** What was not looked through is not kept. */
  #giveUp(): void {
    for (const done of this.#waiting.splice(0)) done({ chunks: [], good: false });
    this.#onIdle?.();
  }
}
