import type { RunEvent, Usage } from '../../protocol/index.ts';

/** One entry of the ledger, as the message log keeps it. */
export type UsageEvent = Extract<RunEvent, { type: 'usage.recorded' }>;

/** What was used by one agent for one task with one model. Tokens. */
export interface LedgerRow {
  readonly role: string;
  readonly agent: string;
  readonly taskId: string;
  readonly model: string;
  /** Tries that gave a reply. */
  readonly calls: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly thinking: number;
}

type Sums = { -readonly [K in keyof LedgerRow]: LedgerRow[K] };

/** The fold of a run's `usage.recorded` events. */
export class Ledger {
  readonly #rows = new Map<string, Sums>();
  /** Replies so far, by role and then by task. */
  readonly #turns = new Map<string, Map<string, number>>();
  #tokens = 0;

  add(event: UsageEvent, taskId: string): void {
    const { role, agent, model } = event;
    const key = [role, agent, taskId, model].join('\n');
    const row = this.#rows.get(key) ?? {
      ...{ role, agent, taskId, model },
      ...{ calls: 0, failed: 0, input: 0, output: 0, cached: 0, thinking: 0 },
    };
    this.#rows.set(key, row);
    row[event.ok ? 'calls' : 'failed'] += 1;
    const used = spent(event);
    for (const part of ['input', 'output', 'cached', 'thinking'] as const) row[part] += used[part];
    this.#tokens += used.input + used.output;
    if (!event.ok) return;
    const turns = this.#turns.get(role) ?? new Map<string, number>();
    this.#turns.set(role, turns);
    turns.set(taskId, Math.max(turns.get(taskId) ?? 0, event.turn + 1));
  }

  get tokens(): number {
    return this.#tokens;
  }

  rows(): readonly LedgerRow[] {
    return [...this.#rows.values()].map((row) => ({ ...row }));
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

/** What an event counts as: the provider's numbers, the estimate where it gave none. */
function spent(event: UsageEvent): Record<keyof Usage, number> {
  const { usage, estimate } = event;
  return {
    input: usage?.input ?? estimate?.input ?? 0,
    output: usage?.output ?? estimate?.output ?? 0,
    cached: usage?.cached ?? 0,
    thinking: usage?.thinking ?? 0,
  };
}
