import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { digest } from './digest.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { inParallel, untilAborted } from './promises.ts';

test('R-LOOP-12: work that does not listen gives way to the signal, before and while it runs', async () => {
  const abort = new AbortController();
  const waiting = untilAborted(new Promise(() => {}), abort.signal);
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(untilAborted(Promise.resolve(1), abort.signal)).rejects.toThrow('enough');
});

test('R-LOOP-12: work that ends first is not disturbed, and a late failure harms nobody', async () => {
  const abort = new AbortController();
  expect(await untilAborted(Promise.resolve(1), abort.signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error('own')), abort.signal)).rejects.toThrow('own');
  const late = untilAborted(
    delay(5).then(() => Promise.reject(new Error('late'))),
    abort.signal,
  );
  abort.abort(new Error('first'));
  await expect(late).rejects.toThrow('first');
  await delay(10);
});

test('R-LOOP-6: items run at most so many at once and come back in order', async () => {
  let now = 0;
  let most = 0;
  const results = await inParallel([5, 1, 4, 1, 3], 2, async (ms) => {
    now += 1;
    most = Math.max(most, now);
    await delay(ms);
    now -= 1;
    return ms * 2;
  });
  expect(results).toEqual([10, 2, 8, 2, 6]);
  expect(most).toBe(2);
  expect(await inParallel([], 2, async () => 1)).toEqual([]);
});

test('R-LOOP-6: the first failure is the whole’s', async () => {
  const failing = inParallel([1, 2], 1, async (item) => {
    if (item === 1) throw new Error('first');
  });
  await expect(failing).rejects.toThrow('first');
});

test('R-LOOP-7: equal values have equal digests, whatever the order of their keys', () => {
  expect(digest({ a: 1, b: { c: [1, 2], d: null } })).toBe(digest({ b: { d: null, c: [1, 2] }, a: 1 }));
  expect(digest([1, 2])).not.toBe(digest([2, 1]));
  expect(digest(undefined)).toMatch(/^[0-9a-f]{16}$/);
});

test('R-LOOP-18 (A14): tokens are estimated by script', () => {
  expect(estimateTokens('')).toBe(0);
  expect(estimateTokens('abcdefgh')).toBe(2);
  expect(estimateTokens('汉字かな한국')).toBe(6);
  expect(estimateTokens('привет')).toBe(3);
});
