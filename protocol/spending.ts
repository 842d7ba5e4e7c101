import type { Money, RunEvent } from './events.ts';

type UsageRecorded = Extract<RunEvent, { type: 'usage.recorded' }>;

/** A sum of model calls: tokens, tries, and costs by currency. */
export interface Spent {
  /** Tries that gave a reply. */
  readonly calls: number;
  readonly failed: number;
  /** Tries that used something, whatever came of them: what a budget of calls counts. */
  readonly paid: number;
  readonly input: number;
  readonly output: number;
  /** Parts of the input: read from the provider's cache, written into it. */
  readonly cached: number;
  readonly written: number;
  /** Part of the output. */
  readonly thinking: number;
  /** Amounts by currency. */
  readonly cost: Readonly<Record<string, number>>;
  /** Tries whose provider did not say what they used, so that their tokens (and cost) are estimates. */
  readonly estimated: number;
  /** Tries that used something and have no known price: they are missing in `cost`. */
  readonly unpriced: number;
  /** Credits that a platform said it took, and the tries that it took some for, said or not. */
  readonly credits: number;
  readonly onCredits: number;
  /** Calls that models wrote as text, by format: those that were read, and those that could not be used. */
  readonly rescued: Readonly<Record<string, number>>;
  readonly dropped: Readonly<Record<string, number>>;
}

/** What one role used of one model. */
export interface SpentLine extends Spent {
  readonly role: string;
  readonly model: string;
}

export const nothingSpent: Spent = {
  ...{ calls: 0, failed: 0, paid: 0, input: 0, output: 0, cached: 0, written: 0, thinking: 0 },
  ...{ cost: {}, estimated: 0, unpriced: 0, credits: 0, onCredits: 0, rescued: {}, dropped: {} },
};

/** What an event counts as: the provider's numbers, the estimate where it gave none. */
export function spentBy(event: UsageRecorded): Spent {
  const { ok, usage, estimate, cost, on_credits: onCredits, cached_reply: given, rescued = {}, dropped = {} } = event;
  const input = usage?.input ?? estimate?.input ?? 0;
  const output = usage?.output ?? estimate?.output ?? 0;
  const used = !given && (ok || input + output > 0);
  return {
    calls: ok ? 1 : 0,
    failed: ok ? 0 : 1,
    paid: used ? 1 : 0,
    ...{ input, output, cached: usage?.cached ?? 0, written: usage?.written ?? 0, thinking: usage?.thinking ?? 0 },
    cost: cost ? { [cost.currency]: cost.amount } : {},
    estimated: estimate ? 1 : 0,
    unpriced: used && !cost && !onCredits ? 1 : 0,
    credits: usage?.credits ?? 0,
    onCredits: used && onCredits ? 1 : 0,
    ...{ rescued, dropped },
  };
}

/** Two sums as one. */
export function plusSpent(one: Spent, other: Spent): Spent {
  return combine(one, other, 1);
}

/** What a sum grew by since an earlier state of it. */
export function minusSpent(now: Spent, before: Spent): Spent {
  return combine(now, before, -1);
}

function combine(one: Spent, other: Spent, sign: 1 | -1): Spent {
  const sum = { ...one } as { -readonly [K in keyof Spent]: Spent[K] };
  for (const key of Object.keys(nothingSpent) as (keyof Spent)[]) {
    if (key === 'cost' || key === 'rescued' || key === 'dropped') sum[key] = combineByName(one[key], other[key], sign);
    else sum[key] = one[key] + sign * other[key];
  }
  return sum;
}

function combineByName(one: Spent['cost'], other: Spent['cost'], sign: 1 | -1): Spent['cost'] {
  const sum = { ...one };
  // ten times 0.1 is 1
  for (const [name, amount] of Object.entries(other)) sum[name] = rounded((sum[name] ?? 0) + sign * amount);
  return sum;
}

/** To a billionth, which is less than any token costs. */
function rounded(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}

/** The lines with one more event in them, by role and model. */
export function addSpent(lines: readonly SpentLine[], event: UsageRecorded): SpentLine[] {
  const { role, model } = event;
  const at = lines.findIndex((line) => line.role === role && line.model === model);
  const sum = { role, model, ...plusSpent(lines[at] ?? nothingSpent, spentBy(event)) };
  return at < 0 ? [...lines, sum] : lines.with(at, sum);
}

/** What a budget limits; what is missing has no limit. */
export interface BudgetLimits {
  readonly tokens?: number | undefined;
  readonly money?: Money | undefined;
  readonly calls?: number | undefined;
  readonly seconds?: number | undefined;
  /** What one unit of another currency is worth in the one of `money`. */
  readonly rates?: Readonly<Record<string, number>> | undefined;
}

/** What is measured against the limits; `seconds` is the time that the run has worked. */
export type BudgetUse = Pick<Spent, 'input' | 'output' | 'paid' | 'cost'> & { readonly seconds: number };

/** One limit and what of it is used. `currency` stands with money. */
export interface BudgetLine {
  readonly unit: 'money' | 'tokens' | 'calls' | 'seconds';
  readonly used: number;
  readonly limit: number;
  readonly currency?: string;
}

/** What is used of each limit that is set. Costs in a currency without a rate do not count. */
export function budgetLines(limits: BudgetLimits, use: BudgetUse): BudgetLine[] {
  const { money, tokens, calls, seconds } = limits;
  const lines: BudgetLine[] = [];
  if (money) {
    const { amount: limit, currency } = money;
    lines.push({ unit: 'money', used: inCurrency(use.cost, currency, limits.rates), limit, currency });
  }
  if (tokens !== undefined) lines.push({ unit: 'tokens', used: use.input + use.output, limit: tokens });
  if (calls !== undefined) lines.push({ unit: 'calls', used: use.paid, limit: calls });
  if (seconds !== undefined) lines.push({ unit: 'seconds', used: use.seconds, limit: seconds });
  return lines;
}

/** How much of a line is used, 0 to 1 and above; a limit of 0 is used up at once. */
export function shareOf({ used, limit }: Pick<BudgetLine, 'used' | 'limit'>): number {
  return limit > 0 ? used / limit : 1;
}

/** The line of which most is used. */
export function tightest(lines: readonly BudgetLine[]): BudgetLine | undefined {
  return lines.toSorted((a, b) => shareOf(b) - shareOf(a))[0];
}

/** Currencies in `cost` that do not count in a budget of `currency`. */
export function uncounted(cost: Spent['cost'], { money, rates = {} }: BudgetLimits): string[] {
  if (!money) return [];
  return Object.keys(cost).filter((currency) => currency !== money.currency && rates[currency] === undefined);
}

/** Costs as one amount of a currency; those without a rate are left out. */
export function inCurrency(cost: Spent['cost'], currency: string, rates: BudgetLimits['rates'] = {}): number {
  let sum = 0;
  for (const [own, amount] of Object.entries(cost)) sum += amount * (own === currency ? 1 : (rates[own] ?? 0));
  return sum;
}
