import { expect, test } from 'vitest';
import { readJudgement } from './judge.ts';
import { openPoints } from './objections.ts';

const evidence = [
  { id: 'E1', text: 'files' },
  { id: 'E2', text: 'npm test: exit 0' },
];

test('R-RUN-4: complete with citations that exist is complete', () => {
  expect(readJudgement('complete [E1, E2]', evidence)).toMatchObject({ verdict: 'complete', cites: ['E1', 'E2'] });
});

test.each([
  'complete',
  'complete [E9]',
  'complete [E1, E3]',
  'Looks good to me!',
  '',
  'incomplete [E1]',
  'yes, complete [E1]',
  'complete [E1]\nmissing: half',
  'complete [E1] is not what this is',
  'Complete? No. [E1] does not show it',
])('R-RUN-4: "%s" is no', (text) => {
  const judgement = readJudgement(text, evidence);
  expect(judgement.verdict).toBe('unreadable');
  expect(openPoints(judgement, 'en')).toHaveLength(1);
});

test.each(['missing: 边界值没有测试', 'Missing： 边界值没有测试'])('R-RUN-4: "%s" says what is missing', (text) => {
  expect(readJudgement(text, evidence)).toMatchObject({ verdict: 'missing', missing: ['边界值没有测试'] });
});
