import { expect, test } from 'vitest';
import { readConfig } from './read-config.ts';
import { ModelSettings } from './settings.ts';

const moneyOf = (text: string) => readConfig(ModelSettings, { environment: { NPC_BUDGET_MONEY: text } }).budgetMoney;

test.each([
  ['20 CNY', 20, 'CNY'],
  ['cny 20.5', 20.5, 'CNY'],
  ['$5', 5, 'USD'],
  ['￥8', 8, 'CNY'],
  ['8元', 8, 'CNY'],
  ['0.5 EUR', 0.5, 'EUR'],
])('R-CLI-1: an amount of money has its currency: %s', (text, amount, currency) => {
  expect(moneyOf(text)).toEqual({ amount, currency });
});

test.each(['20', 'much', '-5 CNY', '$5 USD', '5 dollars'])(
  'R-CLI-1: %s is no amount of money, and that is said',
  (text) => {
    expect(() => moneyOf(text)).toThrow(/NPC_BUDGET_MONEY: .*looks like "20 CNY"/);
  },
);
