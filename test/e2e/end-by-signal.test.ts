import { expect, test } from 'vitest';
import { endBy } from '../helpers/end-by-signal.ts';

test('R-E2E-42: SIGTERM ends a run with a final comment within 5 s, exit 143 and nothing left', async () => {
  expect(await endBy((pid) => process.kill(pid, 'SIGTERM'))).toBe(143);
});
