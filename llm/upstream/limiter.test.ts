import { expect, test } from 'vitest';
import { Limiter } from './limiter.ts';

const never = new AbortController().signal;

test('R-LLM-14: who waits comes in order, and one who gives up frees his place in the queue', async () => {
  const limiter = new Limiter(1);
  const order: string[] = [];
  let free = () => {};
  const first = limiter.run(never, () => new Promise<void>((resolve) => (free = resolve)));
  const stop = new AbortController();
  const second = limiter.run(stop.signal, async () => void order.push('second'));
  const third = limiter.run(never, async () => void order.push('third'));
  const fourth = limiter.run(never, async () => {
    order.push('fourth');
    throw new Error('its own failure');
  });
  stop.abort(new Error('gave up'));
  await expect(second).rejects.toThrow('gave up');
  free();
  await Promise.all([first, third]);
  await expect(fourth).rejects.toThrow('its own failure');
  await limiter.run(never, async () => void order.push('fifth'));
  expect(order).toEqual(['third', 'fourth', 'fifth']);
});
