import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { costOf } from './cost.ts';
import { loadPrices } from './price-file.ts';
import { PriceFile, PriceTable } from './price-table.ts';

const table = (...models: object[]) => new PriceTable([PriceFile.parse({ models })]);
const price = (model: string, input: number, more: object = {}) => ({
  ...{ model, currency: 'CNY', input, output: input * 4 },
  ...more,
});
const used = (input: number, output: number, more: object = {}) => ({ input, output, cached: 0, thinking: 0, ...more });

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'npc-prices-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'prices.yml');
  await writeFile(path, text);
  return path;
}

test('R-LLM-31: the exact name wins, then the longest pattern; what no line names is not known', () => {
  const prices = table(price('glm-*', 1), price('glm-4*', 2), price('glm-4.6', 3), price('gpt-5', 4));
  const inputOf = (model: string) => prices.priceOf(model, 'api.example')?.input;
  expect(['glm-4.6', 'glm-4.6-air', 'glm-5', 'gpt-5'].map(inputOf)).toEqual([3, 2, 1, 4]);
  expect(['gpt-5-mini', 'gpt-5.2', 'o3', 'xglm-4'].map(inputOf)).toEqual([undefined, undefined, undefined, undefined]);
});

test('R-LLM-31: vendors in front, case and the day of a release do not matter', () => {
  const prices = table(price('deepseek-v3', 2), price('openai/gpt-5', 3));
  const inputOf = (model: string) => prices.priceOf(model, 'api.example')?.input;
  const same = ['deepseek-v3', 'Pro/deepseek-ai/DeepSeek-V3', 'deepseek/deepseek-v3-0324', 'deepseek-v3-2025-03-24'];
  expect(same.map(inputOf)).toEqual([2, 2, 2, 2]);
  expect(['gpt-5', 'openai/gpt-5', 'gpt-5-latest'].map(inputOf)).toEqual([3, 3, 3]);
});

test('R-LLM-31: a line for a host counts there alone, and before the others', () => {
  const prices = table(price('kimi', 4), price('kimi', 0.6, { host: 'moonshot.ai', currency: 'USD' }));
  expect(prices.priceOf('kimi', 'api.moonshot.ai')).toMatchObject({ currency: 'USD', input: 0.6 });
  expect(prices.priceOf('kimi', 'api.moonshot.cn')).toMatchObject({ currency: 'CNY', input: 4 });
});

test('R-LLM-30: cached and written tokens cost their own price, and what they have none for costs what input costs', () => {
  const full = { currency: 'CNY', input: 2, cached: 0.2, written: 2.5, output: 8 };
  expect(costOf(used(1_000_000, 0), full)).toEqual({ amount: 2, currency: 'CNY' });
  expect(costOf(used(1_000_000, 0, { cached: 900_000 }), full).amount).toBeCloseTo(0.2 + 0.18, 10);
  expect(costOf(used(1_000_000, 500_000, { cached: 500_000, written: 100_000 }), full).amount).toBeCloseTo(
    0.8 + 0.1 + 0.25 + 4,
    10,
  );
  const plain = { currency: 'USD', input: 2, output: 8 };
  expect(costOf(used(1_000_000, 0, { cached: 900_000, written: 50_000 }), plain).amount).toBe(2);
  expect(costOf(used(100, 0, { cached: 500 }), plain).amount).toBeCloseTo(0.0002, 10);
});

test('R-LLM-30: a long input has the price of its length, for input and output alike', () => {
  const above = [
    { tokens: 128_000, input: 7, output: 28 },
    { tokens: 32_000, input: 4, output: 16 },
  ];
  const tiers = { currency: 'CNY', input: 2.5, output: 10, above };
  expect(costOf(used(32_000, 0), tiers).amount).toBeCloseTo(0.08, 10);
  expect(costOf(used(32_001, 1_000), tiers).amount).toBeCloseTo(0.128004 + 0.016, 10);
  expect(costOf(used(200_000, 0), tiers).amount).toBeCloseTo(1.4, 10);
});

test('R-LLM-31: the table that comes with the program knows prices, windows of a million, and what it does not know', async () => {
  const prices = await loadPrices();
  expect(prices.priceOf('deepseek-chat', 'api.deepseek.com')).toMatchObject({ currency: 'CNY' });
  expect(prices.priceOf('Pro/deepseek-ai/DeepSeek-V3.2', 'api.siliconflow.cn')).toMatchObject({ currency: 'CNY' });
  expect(prices.priceOf('openai/gpt-5-mini', 'openrouter.ai')).toMatchObject({ currency: 'USD', input: 0.25 });
  expect(prices.priceOf('scripted', '127.0.0.1:1')).toBeUndefined();
  expect(prices.windowOf('qwen3-coder-plus', 'dashscope.aliyuncs.com')).toBe(1_000_000);
  expect(prices.windowOf('claude-sonnet-4-5-20250929', 'x')).toBe(200_000);
  expect(prices.windowOf('scripted', 'x')).toBeUndefined();
});

test('R-LLM-31: a file of the user wins, in any currency, and may say the price, the window, or both', async () => {
  const path = await fileOf(`
models:
  - {model: deepseek-chat, currency: EUR, input: 5, output: 6}
  - {model: my-model, window: 1000000, max_output: 64000}
rates: {USD: 7.1}
`);
  const prices = await loadPrices(path);
  expect(prices.priceOf('deepseek-chat', 'x')).toEqual({ currency: 'EUR', input: 5, output: 6 });
  expect(prices.windowOf('deepseek-chat', 'x')).toBe(1_000_000);
  expect([prices.windowOf('my-model', 'x'), prices.maxOutputOf('my-model', 'x')]).toEqual([1_000_000, 64_000]);
  expect(prices.priceOf('my-model', 'x')).toBeUndefined();
  expect(prices.rates).toEqual({ USD: 7.1 });
});

test.each([
  ['models: [{model: x, currency: CNY, input: 1}]', 'currency, input and output stand together'],
  ['models: [{model: x, prize: 1}]', 'prize'],
  ['models: [{model: x, currency: yuan, input: 1, output: 1}]', 'no currency code'],
  ['models: {', 'neither JSON nor YAML'],
])('R-LLM-31: what is wrong in a file is named: %s', async (text, words) => {
  const path = await fileOf(text);
  const fault = await loadPrices(path).catch((error: unknown) => error);
  expect(fault).toMatchObject({ code: 'misconfigured', message: expect.stringContaining(words) });
  expect(fault).toMatchObject({ message: expect.stringContaining(`NPC_PRICES: ${path}`) });
});

test('R-LLM-31: a file that is not there is named', async () => {
  await expect(loadPrices('/nowhere/prices.json')).rejects.toThrow(
    /NPC_PRICES: \/nowhere\/prices.json: there is no such/,
  );
});
