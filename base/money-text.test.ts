import { expect, test } from 'vitest';
import { costText, moneyText } from './money-text.ts';

test('R-LLM-30: amounts of money keep two digits that say something, and currencies are not mixed', () => {
  expect(moneyText(0, 'CNY')).toBe('0.00 CNY');
  expect(moneyText(12.345, 'CNY')).toBe('12.35 CNY');
  expect(moneyText(0.5, 'USD')).toBe('0.50 USD');
  expect(moneyText(0.0042, 'USD')).toBe('0.0042 USD');
  expect(costText({ USD: 0.031, CNY: 1.2 })).toBe('1.20 CNY + 0.031 USD');
  expect(costText({})).toBe('');
});
