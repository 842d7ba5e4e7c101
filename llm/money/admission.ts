import { minusSpent, plusSpent, type Spent } from '../../protocol/index.ts';
import type { Account, Accounts } from './accounts.ts';

/** Lets calls through one after another where the rest of a budget does not hold them all. */
export class Admission {
  readonly #accounts: Accounts;
  #waiting: (() => void)[] = [];

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /**
   * Waits until the account admits what a call may come to. Then `take` says what is set aside for it, until `release`. Rejects with
   * ModelError `budget` or the signal's reason.
   */
  async enter<T extends { readonly need: Spent }>(
    account: Account,
    need: Spent,
    take: () => T,
    signal: AbortSignal,
  ): Promise<T & { release: () => void }> {
    for (;;) {
      signal.throwIfAborted();
      this.#accounts.check(account);
      if (this.#accounts.admits(account, need)) break;
      await this.#untilChanged(signal);
    }
    const taken = take();
    account.flying = plusSpent(account.flying, taken.need);
    const release = () => {
      account.flying = minusSpent(account.flying, taken.need);
      this.changed();
    };
    return { ...taken, release };
  }

  /** A call or a slice ended: those who wait look again. */
  changed(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #untilChanged(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(() => {
        signal.removeEventListener('abort', leave);
        resolve();
      });
    });
  }
}
