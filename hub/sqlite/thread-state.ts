/** Whether there is work that the thread may still begin: all of it, nothing but to close its files, or nothing at all. */
type Phase = 'working' | 'closing' | 'leaving';

const phases: readonly Phase[] = ['working', 'closing', 'leaving'];
const [PHASE, BUSY] = [0, 1];

/**
 * What the hub's thread and the one beside it know of each other at once, in memory that both see. A thread that is ended within a
 * call into SQLite takes the whole process with it on Node 20, so whoever ends it asks first.
 */
export class ThreadState {
  readonly #shared: Int32Array;

  /** Without `shared` a new one, of a thread that works and is not at anything. */
  constructor(shared: Int32Array = new Int32Array(new SharedArrayBuffer(8))) {
    this.#shared = shared;
  }

  /** What is to be handed to the other thread. */
  get shared(): Int32Array {
    return this.#shared;
  }

  get phase(): Phase {
    return phases[Atomics.load(this.#shared, PHASE)] ?? 'leaving';
  }

  set phase(phase: Phase) {
    Atomics.store(this.#shared, PHASE, phases.indexOf(phase));
  }

  /** Says that a thread is being started, which is at work until it has opened its files. */
  begin(): void {
    Atomics.store(this.#shared, BUSY, 1);
  }

  /** Says that the thread is at nothing. */
  rest(): void {
    Atomics.store(this.#shared, BUSY, 0);
    Atomics.notify(this.#shared, BUSY);
  }

  /** Does a piece of work, unless the phase, asked after the thread said that it is busy, is one of those too late for it. */
  work(late: readonly Phase[], work: () => void): void {
    this.begin();
    try {
      if (!late.includes(this.phase)) work();
    } finally {
      this.rest();
    }
  }

  /** Blocks until the thread is at nothing and will begin nothing more, `ms` at most. */
  leave(ms: number): void {
    this.phase = 'leaving';
    Atomics.wait(this.#shared, BUSY, 1, ms);
  }
}
