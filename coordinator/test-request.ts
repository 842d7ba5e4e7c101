/** Words for doing something to a thing, and the tests as that thing. */
const zhVerb = '(?:删除|删掉|移除|去掉|修改|更新|重写|调整|跳过|改写|替换|精简)';
const zhTests = '(?:测试|用例|断言)';
const enVerb = '(?:remove|delete|drop|change|update|rewrite|adjust|skip|disable|replace|simplify|fix)';
const enTests = '(?:tests?|test cases?|test files?|assertions?|specs?)';

/** Of the words between verb and tests none may turn the sentence to something else (`修改代码让测试通过`). */
const wanted: readonly RegExp[] = [
  new RegExp(
    `${zhVerb}(?:(?!让|使|以便|直到|代码|实现|通过)[^，。；！？,.;!?\\n]){0,10}?${zhTests}(?!.{0,4}(?:通过|变绿|不再失败|全绿))`,
    'g',
  ),
  new RegExp(`(?:把|将)[^，。；！？,.;!?\\n]{0,16}${zhTests}[^，。；！？,.;!?\\n]{0,12}${zhVerb}`, 'g'),
  new RegExp(
    `\\b${enVerb}\\s+(?:(?!so\\b|until\\b|to\\b|such\\b|and\\b|code\\b|that\\b|make\\b)[\\w'\`-]+\\s+){0,4}${enTests}\\b(?!\\s+(?:pass|green|succeed))`,
    'gi',
  ),
];
const refusal =
  /(不要|不能|不得|不许|禁止|别|勿|无需|不必|without|do not|don't|dont|never|must not|not to|avoid)[^，。；！？,.;!?\n]{0,20}$/i;

/** Whether a request asks for existing tests to be changed, so that a change to them is no objection. In doubt it does not. */
export function asksForTestChange(request: string): boolean {
  return wanted.some((form) => [...request.matchAll(form)].some(({ index }) => !refusal.test(request.slice(0, index))));
}
