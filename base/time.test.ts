import { afterEach, expect, test, vi } from 'vitest';
import { sleep, systemClock } from './time.ts';

const day = 24 * 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

test.each([1, 24, 25, 60, 3650])('R-HUB-111: a clock of %d days runs out then, and not before', async (days) => {
  vi.useFakeTimers();
  let rang = 0;
  systemClock.after(days * day, () => {
    rang += 1;
  });
  await vi.advanceTimersByTimeAsync(days * day - 10);
  expect(rang).toBe(0);
  await vi.advanceTimersByTimeAsync(20);
  expect(rang).toBe(1);
});

test('R-HUB-111: a long clock that is cancelled never runs out', async () => {
  vi.useFakeTimers();
  let rang = 0;
  const clock = systemClock.after(60 * day, () => {
    rang += 1;
  });
  await vi.advanceTimersByTimeAsync(40 * day);
  clock.cancel();
  await vi.advanceTimersByTimeAsync(40 * day);
  expect(rang).toBe(0);
});

test('R-HUB-111: a long sleep lasts until it is ended', async () => {
  const ending = new AbortController();
  let slept = false;
  const sleeping = sleep(60 * day, ending.signal).then(() => {
    slept = true;
  });
  // Longer than the millisecond after which Node ends what is too long for it.
  await sleep(5);
  expect(slept).toBe(false);
  ending.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
});
