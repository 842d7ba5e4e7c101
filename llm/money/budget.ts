/** How far a budget is used: 80 % tells to converge, 90 % leaves wrap-up tools, at 100 % no model is asked any more. */
export type BudgetLevel = 'ok' | 'converge' | 'wrap_up' | 'spent';

/** The level of `used` out of `budget` tokens; a budget of 0 is spent at once, an infinite one never. */
export function budgetLevel(used: number, budget: number): BudgetLevel {
  if (used >= budget) return 'spent';
  if (used >= budget * 0.9) return 'wrap_up';
  return used >= budget * 0.8 ? 'converge' : 'ok';
}
