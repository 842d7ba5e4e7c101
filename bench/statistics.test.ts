import { expect, test } from 'vitest';
import { quantile, spread } from './statistics.ts';

test('R-HUB-89: quantiles lie between the figures beside them, whatever their order', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([10, 30, 20], 0.5)).toBe(20);
  expect(quantile([10, 20], 0.25)).toBe(12.5);
  expect(quantile([7], 0.99)).toBe(7);
  // as numbers, not as texts
  expect(quantile([9, 10, 100], 1)).toBe(100);
  expect(quantile([], 0.5)).toBeNaN();
});

test('R-HUB-89: a spread is the median and the quartiles', () => {
  expect(spread([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
});
