import { expect, test } from 'vitest';
import { estimateTokens } from './estimate-tokens.ts';

test('R-LLM-7: a Chinese character counts as a token, four Latin ones as one', () => {
  expect(estimateTokens('中文'.repeat(1000))).toBe(2000);
  expect(estimateTokens('abcd'.repeat(1000))).toBe(1000);
  expect(estimateTokens('日本語 text')).toBe(5);
  expect(estimateTokens('')).toBe(0);
});
