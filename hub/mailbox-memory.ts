/** Bytes of waiting messages that all mailboxes together keep in memory; what finds no room is read from the log later. */
export class MailboxMemory {
  readonly #total: number;
  readonly #each: number;
  #used = 0;

  /** `total` for all of them, `each` for one. */
  constructor(total: number, each: number) {
    this.#total = total;
    this.#each = each;
  }

  /** Takes room for a mailbox that has `own` bytes of it already; false when there is none. */
  take(bytes: number, own: number): boolean {
    if (own + bytes > this.#each || this.#used + bytes > this.#total) return false;
    this.#used += bytes;
    return true;
  }

  /** Takes room for what is read to be handed over next, there or not. */
  force(bytes: number): void {
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}
