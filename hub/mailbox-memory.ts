/** Messages from this size on cost little to read again, for what they weigh: of them one mailbox keeps no more than these bytes. */
const LARGE = { message: 16 * 1024, each: 1024 * 1024 };

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
    const each = bytes < LARGE.message ? this.#each : Math.min(this.#each, LARGE.each);
    if (own + bytes > each || this.#used + bytes > this.#total) return false;
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
