import {
  type BudgetLimits,
  type BudgetLine,
  budgetLines,
  inCurrency,
  type Money,
  minusSpent,
  nothingSpent,
  plusSpent,
  type Spent,
} from '../../protocol/index.ts';
import { budgetLevel, spentError } from './budget.ts';
import type { Ledger } from './ledger.ts';

/** A part of a budget for one sub-agent; a missing unit is limited only by the budget that the slice comes from. */
export interface Slice {
  readonly tokens?: number | undefined;
  readonly money?: Money | undefined;
  readonly calls?: number | undefined;
}

type Unit = BudgetLine['unit'];

/** A budget that calls are paid from: the run's, or a slice. */
export interface Account {
  /** Whose slice it is; undefined for the run itself. */
  readonly agent: string | undefined;
  readonly parent: Account | undefined;
  readonly limits: BudgetLimits;
  /** What the agent had used before it got the slice. */
  readonly before: Spent;
  /** What its own calls in flight may come to. */
  flying: Spent;
  open: boolean;
}

/** One account that a call is paid from, with the units that no account below it pays. */
interface Payer {
  readonly account: Account;
  readonly units: readonly Unit[];
}

/**
 * The run's budget and the slices cut out of it. An open slice belongs to its agent alone, so it is neither the limit nor the use of the
 * budget it comes from; once closed, what it used counts there and what it left is there again.
 */
export class Accounts {
  readonly #ledger: Ledger;
  readonly #seconds: () => number;
  readonly #run: Account;
  /** The newest slice of each agent. */
  readonly #slices = new Map<string, Account>();

  /** `seconds` tells how long the run has worked. */
  constructor(ledger: Ledger, limits: BudgetLimits, seconds: () => number) {
    this.#ledger = ledger;
    this.#seconds = seconds;
    this.#run = {
      ...{ agent: undefined, parent: undefined, limits },
      ...{ before: nothingSpent, flying: nothingSpent, open: true },
    };
  }

  /**
   * Cuts a slice for `agent` out of the one of `of`, or out of the run's budget: no more than is left there. Returns what was granted.
   * What the log holds of the agent from before a restart is used already. An open slice stays as it is.
   */
  open(agent: string, slice: Slice, of?: string): Slice {
    const old = this.#slices.get(agent);
    if (old?.open) return old.limits;
    const parent = this.accountOf(of);
    const { tokens, calls, money } = slice;
    const granted: Slice = {
      ...(tokens === undefined ? {} : { tokens: Math.floor(Math.min(tokens, this.left(parent, 'tokens'))) }),
      ...(calls === undefined ? {} : { calls: Math.floor(Math.min(calls, this.left(parent, 'calls'))) }),
      ...(money === undefined ? {} : { money: this.#affordable(money, parent) }),
    };
    const limits = { ...granted, rates: this.#run.limits.rates };
    const before = old ? this.#ledger.ofAgent(agent) : nothingSpent;
    this.#slices.set(agent, { agent, parent, limits, before, flying: nothingSpent, open: true });
    return granted;
  }

  /** Gives what is left of an agent's slice back; the agent gets no call any more. */
  close(agent: string): void {
    const account = this.#slices.get(agent);
    if (account) account.open = false;
  }

  /** What an agent's calls are paid from. */
  accountOf(agent: string | undefined): Account {
    return (agent === undefined ? undefined : this.#slices.get(agent)) ?? this.#run;
  }

  /** What is used of the run's whole budget. */
  total(): BudgetLine[] {
    return budgetLines(this.#run.limits, { ...this.#ledger.total, seconds: this.#seconds() });
  }

  /** What is used of everything that limits the calls of an account. */
  linesFor(account: Account): BudgetLine[] {
    return payersOf(account).flatMap(({ account: payer, units }) =>
      this.#lines(payer, false).filter(({ unit }) => unit === 'seconds' || units.includes(unit)),
    );
  }

  /** Throws ModelError `budget` when nothing is left for a call from this account. */
  check(account: Account): void {
    for (const line of this.total()) if (budgetLevel([line]) === 'spent') throw spentError(line);
    if (!account.open)
      throw spentError({ unit: 'calls', used: this.#used(account, false).paid, limit: 0 }, account.agent);
    for (const { account: payer, units } of payersOf(account)) {
      const lines = this.#lines(payer, false).filter(({ unit }) => units.includes(unit));
      for (const line of lines) if (budgetLevel([line]) === 'spent') throw spentError(line, payer.agent);
    }
  }

  /** Whether what a call may come to fits beside the calls in flight. The need is a guess, so where none is in flight it always does. */
  admits(account: Account, need: Spent): boolean {
    return payersOf(account).every(({ account: payer, units }) => {
      if (this.#flying(payer).paid === 0) return true;
      const asked = budgetLines(payer.limits, { ...need, seconds: 0 });
      return asked.every(({ unit, used }) => !units.includes(unit) || used <= this.left(payer, unit));
    });
  }

  /** How much money is left for an account beside what is in flight, in the currency of what limits it; undefined where nothing does. */
  moneyLeft(account: Account): Money | undefined {
    for (let at: Account | undefined = account; at; at = at.parent) {
      if (at.limits.money) return { amount: this.left(at, 'money'), currency: at.limits.money.currency };
    }
    return undefined;
  }

  /** How much of a unit is left for an account beside what is in flight; Infinity where nothing limits it. */
  left(account: Account, unit: Unit): number {
    const line = this.#lines(account, true).find((one) => one.unit === unit);
    if (line) return Math.max(0, line.limit - line.used);
    return account.parent ? this.left(account.parent, unit) : Infinity;
  }

  /** An account's own part: its limits without those of the slices cut out of it, its use without theirs. */
  #lines(account: Account, inFlight: boolean): BudgetLine[] {
    const { limits } = account;
    const seconds = account === this.#run ? this.#seconds() : 0;
    const lines = budgetLines(limits, { ...this.#used(account, inFlight), seconds });
    return lines.map((line) => {
      let { limit, used } = line;
      for (const slice of this.#cutOut(account, line.unit)) {
        for (const part of budgetLines(slice.limits, { ...this.#used(slice, inFlight), seconds: 0 })) {
          if (part.unit !== line.unit) continue;
          limit -= convert(part.limit, part, line, limits.rates);
          used -= convert(Math.min(part.used, part.limit), part, line, limits.rates);
        }
      }
      return { ...line, limit: Math.max(0, limit), used: Math.max(0, used) };
    });
  }

  /** The open slices that took their part of a unit from this account, be it through slices that do not limit it. */
  #cutOut(account: Account, unit: Unit): Account[] {
    if (unit === 'seconds') return [];
    return this.#children(account).flatMap((child) =>
      child.open && child.limits[unit] !== undefined ? [child] : this.#cutOut(child, unit),
    );
  }

  /** What an account and the slices below it used. */
  #used(account: Account, inFlight: boolean): Spent {
    const flying = inFlight ? this.#flying(account) : nothingSpent;
    if (account === this.#run) return plusSpent(this.#ledger.total, flying);
    let sum = plusSpent(minusSpent(this.#ledger.ofAgent(account.agent ?? ''), account.before), flying);
    for (const child of this.#children(account)) sum = plusSpent(sum, this.#used(child, false));
    return sum;
  }

  /** What the calls in flight of an account and of the slices below it may come to. */
  #flying(account: Account): Spent {
    return this.#children(account).reduce((sum, child) => plusSpent(sum, this.#flying(child)), account.flying);
  }

  #children(account: Account): Account[] {
    return [...this.#slices.values()].filter((slice) => slice.parent === account);
  }

  /** No more than what is left, in the currency of the budget that it comes from; without a rate for it the wish stands. */
  #affordable(wanted: Money, parent: Account): Money {
    const left = this.moneyLeft(parent);
    if (!left) return wanted;
    const worth = inCurrency({ [wanted.currency]: wanted.amount }, left.currency, this.#run.limits.rates);
    if (worth === 0) return wanted;
    return { amount: Math.min(worth, left.amount), currency: left.currency };
  }
}

/** The accounts from this one up to the run, each with the units that it pays. */
function payersOf(account: Account): Payer[] {
  const payers: Payer[] = [];
  let open: Unit[] = ['tokens', 'money', 'calls'];
  for (let at: Account | undefined = account; at; at = at.parent) {
    const { limits } = at;
    payers.push({ account: at, units: open.filter((unit) => unit !== 'seconds' && limits[unit] !== undefined) });
    open = open.filter((unit) => unit !== 'seconds' && limits[unit] === undefined);
  }
  return payers;
}

/** An amount of a slice's line in the currency of the line above it. */
function convert(amount: number, from: BudgetLine, to: BudgetLine, rates: BudgetLimits['rates']): number {
  if (from.currency === undefined || to.currency === undefined) return amount;
  return inCurrency({ [from.currency]: amount }, to.currency, rates);
}
