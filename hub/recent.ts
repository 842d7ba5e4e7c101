/** Ids that are remembered of each sender: more than a client has under way when its connection breaks. */
export const REMEMBERED = 4096;

/** An id that is in the log. */
interface LoggedId {
  readonly id: string;
  readonly lsn: number;
}

/** The ids of one sender's newest messages and their log positions: what it repeats after a cut is found here. */
export class Recent {
  /** Made when there is something to remember: most connections say nothing for most of the time. */
  #young: Map<string, number> | undefined;
  #old: Map<string, number> | undefined;
  #filled = false;

  /** Whether what the log knew at the beginning is in it. */
  get filled(): boolean {
    return this.#filled;
  }

  /** Whether it knows of no message at all. */
  get empty(): boolean {
    return this.#young === undefined && this.#old === undefined;
  }

  /** Position of the message, 0 while it is not yet committed, undefined when it is not known. */
  find(id: string): number | undefined {
    return this.#young?.get(id) ?? this.#old?.get(id);
  }

  /** Remembers an id. At least the last {@link REMEMBERED} are known, and at most twice as many. */
  set(id: string, lsn: number): void {
    if (this.#young === undefined || this.#young.size >= REMEMBERED) {
      this.#old = this.#young ?? this.#old;
      this.#young = new Map();
    }
    this.#young.set(id, lsn);
  }

  /** Adds what the log knows of the sender from before. */
  fill(logged: readonly LoggedId[]): void {
    this.#filled = true;
    for (const { id, lsn } of logged) {
      if (this.find(id) !== undefined) continue;
      this.#old ??= new Map();
      this.#old.set(id, lsn);
    }
  }

  /** Forgets everything; the log still knows. */
  clear(): void {
    this.#young = undefined;
    this.#old = undefined;
    this.#filled = false;
  }
}
