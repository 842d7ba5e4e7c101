import { expect, test } from 'vitest';
import { deliverTenTimes } from '../helpers/ten-deliveries.ts';

test('R-E2E-43: a mention delivered ten times is one run and one comment where the platform has a lock', async () => {
  const { comments, builds } = await deliverTenTimes(true);
  expect(comments).toHaveLength(1);
  expect(comments[0]).toContain('### ✅ 已完成');
  const silent = builds.filter(({ output }) => output.includes('nothing to do'));
  expect(silent).toHaveLength(9);
});
