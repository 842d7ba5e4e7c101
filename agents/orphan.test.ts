import { expect, test } from 'vitest';
import { systemClock } from '../base/time.ts';
import { watchForOrphan } from './orphan.ts';

test('R-AGENT-10: an agent is an orphan only when its parent is gone and its hub has been silent long enough', async () => {
  let [parent, silent] = [true, 0];
  let told = 0;
  const stop = watchForOrphan(
    { client: { silentFor: () => silent }, hasParent: () => parent, clock: systemClock, silentMs: 30 },
    () => {
      told += 1;
    },
  );
  const some = () => new Promise((resolve) => setTimeout(resolve, 20));
  silent = 1000;
  await some();
  expect(told).toBe(0);
  [parent, silent] = [false, 29];
  await some();
  expect(told).toBe(0);
  silent = 30;
  await expect.poll(() => told).toBe(1);
  await some();
  expect(told).toBe(1);
  stop();
});

test('R-AGENT-10: a watch that was ended says nothing more', async () => {
  let told = 0;
  const stop = watchForOrphan({ client: { silentFor: () => 99 }, hasParent: () => false, clock: systemClock }, () => {
    told += 1;
  });
  stop();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(told).toBe(0);
});
