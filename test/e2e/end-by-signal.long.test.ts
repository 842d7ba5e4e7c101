import { expect, test } from 'vitest';
import { endBy } from '../helpers/end-by-signal.ts';

test('R-E2E-42: a platform that ends the whole process group gets the same', async () => {
  expect(await endBy((pid) => process.kill(-pid, 'SIGTERM'))).toBe(143);
});

test('R-E2E-42: Ctrl-C ends a run with 130', async () => {
  expect(await endBy((pid) => process.kill(-pid, 'SIGINT'))).toBe(130);
});
