import type { Family, Sample } from '../../base/prometheus.ts';
import type { Spent } from '../../protocol/index.ts';
import type { LedgerRow } from '../money/ledger.ts';

type Row = Pick<LedgerRow, 'role' | 'model'> & Spent;

/** What a run has used so far, by model and role, as counters. */
export function modelFamilies(rows: readonly Row[]): Family[] {
  const counter = (name: string, help: string, read: (row: Row) => Iterable<Sample>): Family => {
    return { type: 'counter', name, help, samples: () => summed(rows.flatMap((row) => [...read(row)])) };
  };
  const split = (values: Readonly<Record<string, number>>, label: string, labels: Sample['labels']) =>
    Object.entries(values).map(([name, value]) => ({ labels: { ...labels, [label]: name }, value }));
  const both = ({ model, role }: Row) => ({ model, role });
  return [
    counter('npc_model_calls_total', 'Tries of model calls, by what came of them.', (row) =>
      split({ reply: row.calls, failed: row.failed }, 'outcome', both(row)),
    ),
    counter(
      'npc_model_tokens_total',
      'Tokens; cached and written are parts of the input, thinking of the output.',
      (row) => {
        const { input, output, cached, written, thinking } = row;
        return split({ input, output, cached, written, thinking }, 'kind', both(row));
      },
    ),
    counter('npc_model_cost_total', 'Costs, where the price is known.', (row) =>
      split(row.cost, 'currency', both(row)),
    ),
    counter('npc_model_unpriced_total', 'Tries whose price is not known.', (row) => [
      { labels: both(row), value: row.unpriced },
    ]),
    counter('npc_model_credits_total', 'Credits that a platform said it took.', (row) =>
      row.onCredits > 0 ? [{ labels: both(row), value: row.credits }] : [],
    ),
    counter('npc_model_rescued_calls_total', 'Calls that came as text and were read.', ({ model, rescued }) =>
      split(rescued, 'format', { model }),
    ),
    counter('npc_model_dropped_calls_total', 'Calls that could not be used.', ({ model, dropped }) =>
      split(dropped, 'format', { model }),
    ),
  ];
}

/** One sample for each set of labels. */
function summed(samples: readonly Sample[]): Sample[] {
  const sums = new Map<string, Sample>();
  for (const { labels, value } of samples) {
    const key = JSON.stringify(labels);
    sums.set(key, { labels, value: (sums.get(key)?.value ?? 0) + value });
  }
  return [...sums.values()];
}
