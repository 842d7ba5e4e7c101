import { expect, test } from 'vitest';
import { gatewayOver, provider, refuse, say, upstream } from '../../test/helpers/bare-upstream.ts';
import { PriceFile, PriceTable } from '../money/price-table.ts';

test.each([
  [401, 'auth'],
  [429, 'rate_limit'],
] as const)('R-LLM-72: a status %d whose body never ends is told by its status: %s', async (status, kind) => {
  const { url, seen } = await upstream((_, response) => {
    response.writeHead(status).write('{"error":{"message":"no');
  });
  const { ask } = await gatewayOver({ upstream: { baseURL: url, apiKey: 'a-key-of-mine' } });
  await expect(ask()).rejects.toMatchObject({ kind });
  expect(seen).toHaveLength(1);
});

test('R-LLM-72: a pace that allows the next request only after the end is told, not waited for', async () => {
  const { url, asked } = await provider((_, response) => say(response, 'hello'));
  const { ask } = await gatewayOver({
    upstream: { baseURL: url, apiKey: '' },
    pace: { requestsPerMinute: 1 },
    timeLeftMs: () => 2000,
  });
  await ask();
  const began = performance.now();
  await expect(ask()).rejects.toMatchObject({ kind: 'rate_limit', message: expect.stringContaining('pace') });
  expect(performance.now() - began).toBeLessThan(1000);
  expect(asked).toHaveLength(1);
});

test('R-LLM-72: a server that refuses every try is not asked for ever', async () => {
  let most = 100_000;
  const { url, asked } = await provider((_, response) => {
    most -= 1;
    refuse(response, 400, `max_tokens must be at most ${most}`);
  });
  const { ask } = await gatewayOver({ upstream: { baseURL: url, apiKey: '' } });
  await expect(ask({ maxOutputTokens: 200_000 })).rejects.toMatchObject({ kind: 'bad_request' });
  expect(asked.length).toBeLessThan(20);
});

test('R-LLM-72: a key in the address is not repeated to people', async () => {
  const key = 'query'.repeat(4);
  const { url } = await upstream((request, response) => refuse(response, 401, `bad key in ${request.url}`));
  const { ask } = await gatewayOver({ upstream: { baseURL: `${url}?api-key=${key}`, apiKey: '' } });
  const error = await ask().catch((thrown: Error) => thrown);
  expect((error as Error).message).toContain('api-key=***');
  expect((error as Error).message).not.toContain(key);
});

test('R-LLM-72: ten calls at 0.1 use a budget of 1 up', async () => {
  const models = [{ model: 'big', currency: 'CNY', input: 0, output: 100_000 }];
  const { url, asked } = await provider((_, response) =>
    response.end(
      JSON.stringify({
        choices: [{ message: { content: 'x' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    ),
  );
  const { ask } = await gatewayOver({
    upstream: { baseURL: url, apiKey: '' },
    budget: { money: { amount: 1, currency: 'CNY' } },
    prices: new PriceTable([PriceFile.parse({ models })]),
  });
  for (let call = 0; call < 10; call += 1) await ask();
  await expect(ask()).rejects.toMatchObject({ kind: 'budget' });
  expect(asked).toHaveLength(10);
});
