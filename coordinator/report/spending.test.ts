import { expect, test } from 'vitest';
import { nothingSpent, type SpentLine } from '../../protocol/index.ts';
import { emptyRecord } from '../record.ts';
import { budgetMessage, spendingLine, spendingTable } from './spending.ts';
import { textsFor } from './texts.ts';
import type { RunView } from './view.ts';

const line = (more: Partial<SpentLine>): SpentLine => ({ ...nothingSpent, role: 'coder', model: 'm', ...more });

function view(usage: SpentLine[], budget: RunView['record']['budget'], rest: Partial<RunView> = {}): RunView {
  const record = { ...emptyRecord(), usage, budget };
  return { runKey: '0011aabbccddeeff', language: 'en', record, tasks: [], startedAt: 0, now: 42_000, ...rest };
}
const usage = [
  line({ calls: 3, paid: 3, input: 9000, cached: 800, output: 1000, cost: { CNY: 0.5 }, estimated: 1 }),
  line({ role: 'judge', model: 'n', calls: 1, paid: 1, input: 100, unpriced: 1 }),
];
const budget = { tokens: 20_000, money: { amount: 1, currency: 'CNY' } };

test('R-RUN-13: the footer tells calls, tokens, time, cost with its doubts, and what is left, in both languages', () => {
  expect(spendingLine(view(usage, budget), textsFor('en'))).toBe(
    '4 model calls, 9100 tokens in / 1000 out, 42 s · cost 0.50 CNY (tokens of 1 call estimated, without 1 call of unknown price) · budget left: 0.50 CNY, 9,900 tokens',
  );
  expect(spendingLine(view(usage, budget), textsFor('zh-CN'))).toBe(
    '4 次模型调用，输入 9100 / 输出 1000 tokens，用时 42 秒 · 费用 0.50 CNY（1 次调用的用量为估算，1 次调用的价格未知，未计入） · 预算剩余 0.50 CNY，9,900 tokens',
  );
  expect(spendingLine(view([line({ calls: 1, unpriced: 1 })], {}), textsFor('en'))).toContain('cost unknown');
  const dollars = view([line({ cost: { USD: 2 } })], budget);
  expect(spendingLine(dollars, textsFor('en'))).toMatch(
    /left: 1\.00 CNY, .* · costs in USD do not count in the budget/,
  );
});

test('R-RUN-13: the comment has a table of what each role used of each model', () => {
  const table = spendingTable(view(usage, budget), textsFor('en'));
  expect(table).toContain('| coder | m | 3 | 9,000 | 800 | 1,000 | cost 0.50 CNY (tokens of 1 call estimated) |');
  expect(table).toContain('| judge | n | 1 | 100 | 0 | 0 | cost unknown (no known price) |');
  expect(spendingTable(view([], budget), textsFor('en'))).toBe('');
});

test('R-RUN-13: a run that its budget ended says which limit, and that work is kept only when there is some', () => {
  expect(budgetMessage(view(usage, { tokens: 20_000 }))).toBeUndefined();
  const spent = view(usage, { tokens: 10_000, calls: 100 });
  expect(budgetMessage(spent)).toBe(
    "The run's budget is used up: 10,100 tokens of 10,000 tokens. No model was asked any more.",
  );
  spent.record.delivered = { wip: 'npc/wip/x' };
  expect(budgetMessage(spent)).toMatch(/kept on the branch\.$/);
  expect(budgetMessage(view(usage, { seconds: 40 }, { language: 'zh-CN' }))).toContain('已用 42 秒，上限 40 秒');
});
