import type { Hook } from '../core/hook.ts';

const CONVERGE = 0.8;
const WRAP_UP = 0.9;

export interface BudgetOptions {
  /** The share of the budget that is used when this step begins, 0 to 1. */
  readonly used: (step: number) => number;
  /** Tools that are left once nearly everything is used. */
  readonly wrapUpTools: readonly string[];
}

/** Tells the model to come to an end at 80 % of a budget; at 90 % only the tools to wrap up with are left. */
export function budget({ used, wrapUpTools }: BudgetOptions): Hook {
  let share = 0;
  const percent = () => Math.floor(share * 100);
  return {
    name: 'budget',
    at: {
      'cycle.started': ({ step }) => {
        share = used(step);
      },
      'model.before': ({ turns, tools }) => {
        if (share < CONVERGE) return undefined;
        const wrapUp = share >= WRAP_UP;
        const content = wrapUp
          ? `[${percent()} % of what this task may use is used. Hand in now what you have, and say what is open.]`
          : `[${percent()} % of what this task may use is used. Begin nothing new; finish, check, hand in.]`;
        const left = wrapUp ? tools.filter((tool) => wrapUpTools.includes(tool.name)) : tools;
        return { replace: { turns: [...turns, { role: 'user', content }], tools: left } };
      },
      'tool.before': ({ call }) => {
        // the run's own budget, of which the gateway keeps account
        if (call.refused !== undefined) return { refuse: call.refused };
        if (share < WRAP_UP || wrapUpTools.includes(call.name)) return undefined;
        return {
          refuse: `${percent()} % of the budget is used; only these tools are left: ${wrapUpTools.join(', ')}.`,
        };
      },
    },
  };
}
