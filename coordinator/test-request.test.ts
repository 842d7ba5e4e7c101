import { expect, test } from 'vitest';
import { asksForTestChange } from './test-request.ts';

test.each([
  '请删除过时的测试',
  '修改 price 的测试用例，价格规则变了',
  '把旧的测试用例都更新一下',
  'Update the tests for the new price rule',
  'please remove the flaky test',
  'Rewrite these outdated test cases',
])('R-RUN-16: "%s" asks for other tests', (request) => {
  expect(asksForTestChange(request)).toBe(true);
});

test.each([
  '请修改 price.mjs 让测试通过',
  '测试失败了，请修改代码',
  '改好后跑测试',
  '不要修改测试',
  '请修复问题，别改测试，也不要删除测试用例',
  '请让测试通过，然后提交 PR。',
  'Update the parser so all tests pass',
  'Do not change the tests',
  'Fix the bug without changing the tests',
  "Change the code until the tests pass; don't skip tests",
  'The tests fail, please change the code',
])('R-RUN-16: "%s" asks for work that the tests judge', (request) => {
  expect(asksForTestChange(request)).toBe(false);
});
