import { expect, test } from 'vitest';
import { findFalseEnd, reportsWork } from './claims.ts';

test.each([
  ['Error: 429 Too Many Requests', 'rate_limited'],
  ['429 {"error":{"message":"rate limit exceeded"}}', 'rate_limited'],
  ['401 Incorrect API key provided', 'auth'],
  ['Insufficient balance, please recharge', 'quota'],
  ['API Error: 503 Service Unavailable', 'upstream_error'],
  ['502 Bad Gateway', 'upstream_error'],
  ['upstream error: connection reset', 'upstream_error'],
  ['Error: fetch failed', 'upstream_error'],
  ['上游服务错误，请稍后重试', 'upstream_error'],
])('R-RUN-3: "%s" is an error of the service and no answer', (text, cause) => {
  expect(findFalseEnd(text)?.cause).toBe(cause);
});

test.each([
  'The tests are still running in the background; I will report once they finish.',
  'Build started in the background, will update you later.',
  "I'll report back when the migration is done.",
  '测试正在后台运行，完成后会向你汇报。',
  'npm test is still running; results follow',
  '测试还在跑，跑完告诉你',
  '已开始构建，稍后再告知结果。',
])('R-RUN-3: "%s" promises to finish later', (text) => {
  expect(findFalseEnd(text)?.cause).toBe('left_running');
});

test.each([
  'pushed 1402 records',
  'I will report errors with a better message now',
  'generated 512 images',
  '512 images generated',
  '429 tests pass',
  'HTTP 503 is now retried three times.',
  'billing report sent',
  'fixed the 429 retry bug and pushed',
  'Error handling added to the parser; all 5 tests pass.',
  'The worker now runs jobs in the background and logs each of them.',
  '修复了满减优惠的计算，测试通过。',
  '后台任务现在会记录日志。',
  '',
])('R-RUN-3: "%s" is an end like any other', (text) => {
  expect(findFalseEnd(text)).toBeUndefined();
});

test('R-RUN-3: a long text is not judged by its words', () => {
  expect(findFalseEnd(`${'It explains the service. '.repeat(30)} 502 Bad Gateway`)).toBeUndefined();
});

test.each([
  '已修改，测试通过，PR #7 已提交',
  '我已经修复了这个问题。',
  "I've fixed it and opened a PR.",
  'Done. All tests pass.',
  'Fixed, and pushed.',
])('R-RUN-3: the answer "%s" to a request for work reports what an answer cannot have done', (answer) => {
  expect(reportsWork(answer, '请修改 price.mjs 并提交 PR')).toBe(true);
});

test('R-RUN-3: a question may be answered in such words, and an explanation is no report', () => {
  expect(reportsWork('已修复，见提交 a1b2c3。', '这个问题修好了吗？')).toBe(false);
  expect(reportsWork('满减从 100 元开始，取够得着的最高一档。', '说明一下满减规则')).toBe(false);
});
