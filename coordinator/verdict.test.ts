import { expect, test } from 'vitest';
import { Cause } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { decide, exitOf } from './verdict.ts';

test('R-RUN-7: green exits 0 and has no cause', () => {
  const decision = decide(null, '', '');
  expect(decision).toMatchObject({ verdict: 'green', cause: null });
  expect(exitOf(decision)).toBe(0);
});

test.each(Cause.options)('R-RUN-7: %s has a verdict, an exit code and advice in both languages', (cause) => {
  const decision = decide(cause, '', '');
  const expected = cause === 'cancelled' ? 0 : cause === 'interrupted' ? 143 : decision.verdict === 'partial' ? 4 : 3;
  expect(exitOf(decision)).toBe(expected);
  expect(decision.verdict).not.toBe('green');
  expect(adviceFor(cause, { language: 'zh-CN' })).toMatch(/[\u4e00-\u9fff]/);
  expect(adviceFor(cause, { language: 'en' })).toMatch(/^[\x20-\x7e]+$/);
  expect(adviceFor(cause, { language: 'en' })).not.toMatch(/\{again/i);
});

test('R-RUN-7: the advice fits where the request was made', () => {
  const thread = { slug: 'team/shop', kind: 'issue', number: '1', occasion: '7' } as const;
  expect(adviceFor('tests_failing', { language: 'en', thread })).toContain('and mention me again.');
  expect(adviceFor('upstream_error', { language: 'en' })).toMatch(/^Run it again later/);
  expect(adviceFor('no_change', { language: 'zh-CN' })).toContain('再运行一次');
});

test('R-RUN-7: an interrupted run exits by its signal', () => {
  expect(exitOf(decide('interrupted', '', ''), 'SIGINT')).toBe(130);
  expect(exitOf(decide('interrupted', '', ''), 'SIGTERM')).toBe(143);
});
