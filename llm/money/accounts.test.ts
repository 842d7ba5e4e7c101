import { expect, test } from 'vitest';
import { type BudgetLimits, nothingSpent } from '../../protocol/index.ts';
import { Accounts } from './accounts.ts';
import { budgetLevel } from './budget.ts';
import { Ledger, type UsageEvent } from './ledger.ts';

function stage(limits: BudgetLimits) {
  const ledger = new Ledger();
  let seconds = 0;
  const accounts = new Accounts(ledger, limits, () => seconds);
  const spend = (agent: string, input: number, more: Partial<UsageEvent> = {}) => {
    const usage = { input, output: 0, cached: 0, thinking: 0 };
    const event = { role: 'coder', agent, attempt: 1, turn: 0, model: 'm', ok: true, usage, ms: 1, ...more };
    ledger.add({ type: 'usage.recorded', ...event }, 'run.code');
  };
  const at = (agent?: string) => accounts.accountOf(agent);
  return {
    ...{ accounts, spend },
    pass: (more: number) => {
      seconds += more;
    },
    left: (unit: 'tokens' | 'money' | 'calls', agent?: string) => accounts.left(at(agent), unit),
    level: (agent?: string) => budgetLevel(accounts.linesFor(at(agent))),
    check: (agent?: string) => accounts.check(at(agent)),
  };
}

test('R-LLM-32: whichever limit is used up first counts', () => {
  const money = { amount: 10, currency: 'CNY' };
  for (const [what, use] of [
    ['tokens', (s: ReturnType<typeof stage>) => s.spend('a', 1000)],
    ['calls', (s: ReturnType<typeof stage>) => [1, 2, 3].map(() => s.spend('a', 1))],
    ['seconds', (s: ReturnType<typeof stage>) => s.pass(60)],
    ['CNY', (s: ReturnType<typeof stage>) => s.spend('a', 1, { cost: money })],
  ] as const) {
    const run = stage({ tokens: 1000, calls: 3, seconds: 60, money });
    expect(run.check).not.toThrow();
    use(run);
    expect(run.check).toThrow(what);
  }
});

test('R-LLM-32: money of another currency counts by the rate that was given, else not', () => {
  const money = { amount: 10, currency: 'CNY' };
  const cost = { amount: 1, currency: 'USD' };
  const converted = stage({ money, rates: { USD: 7 } });
  converted.spend('a', 1, { cost });
  expect(converted.left('money')).toBeCloseTo(3, 10);
  const apart = stage({ money });
  apart.spend('a', 1, { cost });
  expect(apart.left('money')).toBe(10);
});

test('R-LLM-35: a slice is cut out of the budget while it is open; what it left is there again when it is closed', () => {
  const run = stage({ tokens: 1000 });
  run.spend('coder-1', 200);
  expect(run.accounts.open('coder-1_sub-1', { tokens: 400 })).toEqual({ tokens: 400 });
  expect(run.left('tokens')).toBe(400);
  run.spend('coder-1_sub-1', 100);
  expect([run.left('tokens'), run.left('tokens', 'coder-1_sub-1')]).toEqual([400, 300]);
  run.accounts.close('coder-1_sub-1');
  expect(run.left('tokens')).toBe(700);
  expect(() => run.check('coder-1_sub-1')).toThrow('coder-1_sub-1');
});

test('R-LLM-35: a sub-agent ends with its slice, its parent goes on; it is told by its own part', () => {
  const run = stage({ tokens: 1000, calls: 100 });
  run.accounts.open('sub', { tokens: 100 });
  run.spend('sub', 85);
  expect([run.level('sub'), run.level()]).toEqual(['converge', 'ok']);
  run.spend('sub', 30);
  expect(() => run.check('sub')).toThrow(/part of the budget that sub was given is used up: 115 of 100 tokens/);
  expect(() => run.check('coder-1')).not.toThrow();
  // what it used beyond its part is missing in the run's
  expect(run.left('tokens')).toBe(885);
});

test('R-LLM-35: a parent that gave all of it away has no call until something comes back', () => {
  const run = stage({ tokens: 1000 });
  expect(run.accounts.open('sub', { tokens: 5000 })).toEqual({ tokens: 1000 });
  expect(run.check).toThrow('budget');
  expect(() => run.check('sub')).not.toThrow();
  expect(run.accounts.open('sub-2', { tokens: 10 })).toEqual({ tokens: 0 });
  run.accounts.close('sub');
  expect(run.check).not.toThrow();
});

test('R-LLM-35: a slice of a slice comes from that slice; units that it does not limit are paid above', () => {
  const run = stage({ tokens: 1000, calls: 10 });
  run.accounts.open('sub', { tokens: 300 });
  expect(run.accounts.open('sub_sub', { tokens: 500 }, 'sub')).toEqual({ tokens: 300 });
  run.accounts.close('sub_sub');
  expect(run.left('tokens', 'sub')).toBe(300);
  run.accounts.open('sub_two', { tokens: 100, calls: 2 }, 'sub');
  run.spend('sub_two', 40);
  expect(run.left('tokens', 'sub')).toBe(200);
  expect([run.left('calls', 'sub_two'), run.left('calls', 'sub')]).toEqual([1, 8]);
  for (let call = 0; call < 9; call += 1) run.spend('coder-1', 1);
  expect(() => run.check('sub')).toThrow('calls');
});

test('R-LLM-35: after a restart a slice that is granted again is as used as the log says', () => {
  const run = stage({ tokens: 1000 });
  run.spend('sub', 90);
  run.accounts.open('sub', { tokens: 100 });
  expect(run.left('tokens', 'sub')).toBe(10);
  expect(run.level('sub')).toBe('wrap_up');
});

test('R-LLM-34: what is in flight is set aside', () => {
  const run = stage({ tokens: 1000, calls: 2 });
  const account = run.accounts.accountOf('coder-1');
  const need = { ...nothingSpent, paid: 1, input: 400, output: 300 };
  expect(run.accounts.admits(account, { ...need, input: 5000 })).toBe(true);
  account.flying = need;
  expect([run.left('tokens'), run.left('calls')]).toEqual([300, 1]);
  expect(run.accounts.admits(account, need)).toBe(false);
  expect(run.accounts.admits(account, { ...need, output: -150 })).toBe(true);
  expect(run.accounts.admits(account, { ...need, paid: 2, output: -150 })).toBe(false);
});

test('R-LLM-35: a slice of money is in the currency of the budget that it comes from', () => {
  const run = stage({ money: { amount: 10, currency: 'CNY' }, rates: { USD: 7 } });
  expect(run.accounts.open('sub', { money: { amount: 1, currency: 'USD' } })).toEqual({
    money: { amount: 7, currency: 'CNY' },
  });
  expect(run.left('money')).toBe(3);
  expect(run.accounts.open('sub-2', { money: { amount: 5, currency: 'CNY' } })).toEqual({
    money: { amount: 3, currency: 'CNY' },
  });
  const free = stage({ tokens: 100 });
  free.accounts.open('sub', { money: { amount: 1, currency: 'USD' } });
  free.spend('sub', 1, { cost: { amount: 1, currency: 'USD' } });
  expect(() => free.check('sub')).toThrow('1.00 of 1.00 USD');
  expect(free.check).not.toThrow();
});

test('R-LLM-34: a call from a slice does not wait for calls that are paid from elsewhere', () => {
  const run = stage({ tokens: 1000 });
  run.accounts.open('sub', { tokens: 100 });
  run.accounts.accountOf('coder-1').flying = { ...nothingSpent, paid: 1, input: 900 };
  const need = { ...nothingSpent, paid: 1, input: 500 };
  expect(run.accounts.admits(run.accounts.accountOf('sub'), need)).toBe(true);
  expect(run.accounts.admits(run.accounts.accountOf('coder-2'), need)).toBe(false);
});
