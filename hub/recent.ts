/** The newest (sender, id) pairs and their log position: what a sender repeats after a cut is found here. */
export class Recent {
  readonly #half: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  /** Remembers at least `count` and at most twice as many. */
  constructor(count: number) {
    this.#half = count;
  }

  /** Position of the message, 0 while it is not yet committed, undefined when it is not known. */
  find(from: string, id: string): number | undefined {
    const key = `${from} ${id}`;
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(from: string, id: string, lsn: number): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(`${from} ${id}`, lsn);
  }
}
