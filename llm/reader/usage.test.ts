import { expect, test } from 'vitest';
import { toUsage } from './usage.ts';

test('R-LLM-30: cached, written and thinking tokens are found under the names that providers use', () => {
  const openai = {
    ...{ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 8 },
  };
  expect(toUsage(openai)).toEqual({ input: 100, output: 20, cached: 64, thinking: 8 });
  const deepseek = { prompt_tokens: 100, completion_tokens: 20, prompt_cache_hit_tokens: 60 };
  expect(toUsage(deepseek)).toMatchObject({ input: 100, cached: 60 });
  const router = {
    prompt_tokens: 100,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 30 },
  };
  expect(toUsage(router)).toMatchObject({ input: 100, cached: 10, written: 30 });
});

test('R-LLM-30: what a provider counts beside prompt or completion is added to it', () => {
  const beside = {
    ...{ prompt_tokens: 5, completion_tokens: 1 },
    ...{ cache_read_input_tokens: 900, cache_creation_input_tokens: 50 },
  };
  expect(toUsage(beside)).toEqual({ input: 955, output: 1, cached: 900, thinking: 0, written: 50 });
  const details = { completion_tokens_details: { reasoning_tokens: 70 } };
  expect(toUsage({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 85, ...details })?.output).toBe(75);
  expect(toUsage({ prompt_tokens: 10, completion_tokens: 75, total_tokens: 85, ...details })?.output).toBe(75);
});

test('R-LLM-30: what is not said is null, what is no number does not count', () => {
  expect(toUsage(undefined)).toBeNull();
  expect(toUsage({ prompt_tokens: 'many' })).toEqual({ input: null, output: null, cached: 0, thinking: 0 });
});
