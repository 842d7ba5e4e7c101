import { expect, test } from 'vitest';
import { readMarker } from '../../coordinator/report/marker.ts';
import { deliverTenTimes } from '../helpers/ten-deliveries.ts';

test('R-E2E-43: a mention delivered ten times is one run, and one-line pointers at most, where it has none', async () => {
  const { comments } = await deliverTenTimes(false);
  expect(comments[0]).toContain('### ✅ 已完成');
  for (const other of comments.slice(1)) {
    expect(readMarker(other)?.state).toBe('pointer');
    expect(other.split('\n').filter((line) => line !== '' && !line.startsWith('<!--'))).toHaveLength(1);
  }
});
