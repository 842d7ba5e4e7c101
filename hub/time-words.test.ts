import { expect, test } from 'vitest';
import { inWords } from './time-words.ts';

test('R-CLI-24: times in reasons are in the largest unit that leaves no rest', () => {
  expect([300_000, 90_000, 250, 3_600_000, 0].map(inWords)).toEqual(['5m', '90s', '250ms', '1h', '0ms']);
});
