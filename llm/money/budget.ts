import { moneyText } from '../../base/money-text.ts';
import { ModelError } from '../../core/model.ts';
import { type BudgetLine, shareOf, tightest } from '../../protocol/index.ts';

/** How far a budget is used: 80 % tells to converge, 90 % leaves wrap-up tools, at 100 % no model is asked any more. */
export type BudgetLevel = 'ok' | 'converge' | 'wrap_up' | 'spent';

/** The level of the line of which most is used; `ok` where nothing is limited. */
export function budgetLevel(lines: readonly BudgetLine[]): BudgetLevel {
  const line = tightest(lines);
  const share = line ? shareOf(line) : 0;
  if (share >= 1) return 'spent';
  if (share >= 0.9) return 'wrap_up';
  return share >= 0.8 ? 'converge' : 'ok';
}

/** `2,412,000 of 3,000,000 tokens`. */
export function lineText({ unit, used, limit, currency }: BudgetLine): string {
  if (unit === 'money')
    return `${moneyText(used, currency ?? '').split(' ')[0]} of ${moneyText(limit, currency ?? '')}`;
  return `${Math.round(used).toLocaleString('en')} of ${limit.toLocaleString('en')} ${unit}`;
}

/** The part of a line that is used, in whole percent. */
export function percentOf(line: BudgetLine): number {
  return Math.floor(shareOf(line) * 100);
}

const variables: Readonly<Record<BudgetLine['unit'], string>> = {
  money: 'NPC_BUDGET_MONEY',
  tokens: 'NPC_BUDGET_TOKENS',
  calls: 'NPC_BUDGET_CALLS',
  seconds: 'NPC_BUDGET_SECONDS',
};

/** What a caller gets when a budget is used up; `slice` names the sub-agent whose part it was. */
export function spentError(line: BudgetLine, slice?: string): ModelError {
  const used = lineText(line);
  const message =
    slice === undefined
      ? `The run's budget is used up: ${used}. Set ${variables[line.unit]} to more and run again to go on.`
      : `The part of the budget that ${slice} was given is used up: ${used}.`;
  return new ModelError('budget', message, { retryable: false });
}
