import { expect, test } from 'vitest';
import { nothingSpent, type SpentLine } from '../../protocol/index.ts';
import type { RunStory } from '../read/fold-run.ts';
import { costOf, spendingLines } from './spending.ts';

const line = (more: Partial<SpentLine>): SpentLine => ({ ...nothingSpent, role: 'coder', model: 'm', ...more });
const story = (usage: SpentLine[], budget: RunStory['budget']): RunStory => ({
  ...{ runKey: 'k', request: '', started: 0, ended: 0, gates: [], commits: [], returns: [], starts: 1 },
  ...{ usage, budget },
});

test('R-CLI-6: a cost says what is estimated in it, and what is missing; what is not known is not 0', () => {
  expect(costOf(line({ cost: { CNY: 1.5 } }))).toBe('1.50 CNY');
  expect(costOf(line({ cost: { CNY: 1.5, USD: 0.02 }, estimated: 1 }))).toBe('~1.50 CNY + 0.020 USD');
  expect(costOf(line({ cost: { CNY: 1.5 }, unpriced: 2 }))).toBe('1.50 CNY + unknown');
  expect(costOf(line({ calls: 1, unpriced: 1 }))).toBe('unknown');
  expect(costOf(line({ failed: 1 }))).toBe('');
});

test('R-CLI-6: a report tells what the run cost in each currency, and what of its budget is left', () => {
  const usage = [
    line({ calls: 2, paid: 2, input: 900, output: 100, cost: { CNY: 4 }, estimated: 1 }),
    line({ model: 'n', calls: 1, paid: 1, input: 10, cost: { USD: 1 } }),
    line({ model: 'o', calls: 1, paid: 1, input: 10, unpriced: 1 }),
  ];
  const budget = { tokens: 10_000, calls: 8, seconds: 100, money: { amount: 10, currency: 'CNY' } };
  expect(spendingLines(story(usage, budget), 25_000)).toEqual([
    '',
    'cost: 4.00 CNY + 1.00 USD; the tokens of 1 call are estimates; 1 call of a model whose price is not known; USD does not count in the budget: no rate was given',
    'budget left: 6.00 CNY (60 %), 8,980 tokens (89 %), 4 calls (50 %), 75 seconds (75 %)',
  ]);
  expect(spendingLines(story(usage, { ...budget, rates: { USD: 7 } }), 0).at(-1)).toContain('0.00 CNY (0 %)');
  expect(spendingLines(story([line({ unpriced: 1 })], {}), 0)).toEqual([
    '',
    'cost: unknown; 1 call of a model whose price is not known',
  ]);
  expect(spendingLines(story([], budget), 0)).toEqual([]);
});

test('R-LLM-65: the report counts, by model and format, calls that came as text and those that could not be used', () => {
  const line = { ...nothingSpent, calls: 1, model: 'big' };
  const story = {
    usage: [
      { ...line, role: 'coder', rescued: { hermes: 2 }, dropped: { hermes: 1 } },
      { ...line, role: 'reviewer', rescued: { hermes: 1, 'kimi-k2': 1 } },
      { ...line, role: 'reviewer', model: 'small' },
    ],
    budget: {},
    started: 0,
  } as Partial<RunStory> as RunStory;
  expect(spendingLines(story, 0)).toEqual([
    '',
    'big wrote 4 calls as text: 3 hermes, 1 kimi-k2',
    'big wrote 1 unusable call: 1 hermes',
    expect.stringMatching(/^cost: /),
  ]);
});
