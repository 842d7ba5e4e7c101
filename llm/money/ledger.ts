import { nothingSpent, plusSpent, type RunEvent, type Spent, spentBy } from '../../protocol/index.ts';
import type { BudgetLevel } from './budget.ts';

/** One entry of the ledger, as the message log keeps it. */
export type UsageEvent = Extract<RunEvent, { type: 'usage.recorded' }>;

/** What was used by one agent for one task with one model. Tokens, tries, and costs by currency. */
export interface LedgerRow extends Spent {
  readonly role: string;
  readonly agent: string;
  readonly taskId: string;
  readonly model: string;
}

/** The fold of a run's `usage.recorded` events. */
export class Ledger {
  readonly #rows = new Map<string, LedgerRow>();
  readonly #agents = new Map<string, Spent>();
  /** Replies so far, by role and then by task. */
  readonly #turns = new Map<string, Map<string, number>>();
  /** Tasks with the levels of the budget that they were told. */
  readonly #told = new Set<string>();
  #total = nothingSpent;

  add(event: UsageEvent, taskId: string): void {
    const { role, agent, model } = event;
    const spent = spentBy(event);
    const key = [role, agent, taskId, model].join('\n');
    this.#rows.set(key, { role, agent, taskId, model, ...plusSpent(this.#rows.get(key) ?? nothingSpent, spent) });
    this.#agents.set(agent, plusSpent(this.ofAgent(agent), spent));
    this.#total = plusSpent(this.#total, spent);
    if (!event.ok) return;
    if (event.told) this.#told.add(`${event.told} ${taskId}`);
    const turns = this.#turns.get(role) ?? new Map<string, number>();
    this.#turns.set(role, turns);
    turns.set(taskId, Math.max(turns.get(taskId) ?? 0, event.turn + 1));
  }

  /** What the whole run used. */
  get total(): Spent {
    return this.#total;
  }

  ofAgent(agent: string): Spent {
    return this.#agents.get(agent) ?? nothingSpent;
  }

  rows(): readonly LedgerRow[] {
    return [...this.#rows.values()];
  }

  /** Whether a reply was given to a request of the task that told it this level of the budget. */
  wasTold(taskId: string, level: BudgetLevel): boolean {
    return this.#told.has(`${level} ${taskId}`);
  }

  /** How many replies this role has had in this task. */
  turnsOf(role: string, taskId: string): number {
    return this.#turns.get(role)?.get(taskId) ?? 0;
  }

  /** How many replies this role has had in the run's other tasks. */
  turnsElsewhere(role: string, taskId: string): number {
    let sum = 0;
    for (const [task, turns] of this.#turns.get(role) ?? []) if (task !== taskId) sum += turns;
    return sum;
  }
}
