import { expect, test } from 'vitest';
import type { ModelErrorKind } from '../../core/model.ts';
import { advise } from './advice.ts';
import { together } from './advice-texts.ts';
import { UpstreamError } from './errors.ts';

const context = {
  ...{ host: 'models.example', hasKey: true, model: 'big', tries: 3 },
  ...{ keyVariable: 'A_KEY', urlVariable: 'A_URL', modelVariable: 'A_MODEL' },
};

const cures: readonly [ModelErrorKind, string][] = [
  ...(['auth', 'quota'] as const).map((kind) => [kind, 'A_KEY'] as [ModelErrorKind, string]),
  ...(['not_sse', 'server'] as const).map((kind) => [kind, 'A_URL'] as [ModelErrorKind, string]),
  ...(
    [
      ...['rate_limit', 'overloaded', 'context_length', 'content_filter', 'bad_request', 'misconfigured'],
      ...['empty', 'timeout', 'stalled', 'incomplete', 'bad_event'],
    ] as ModelErrorKind[]
  ).map((kind) => [kind, 'A_MODEL'] as [ModelErrorKind, string]),
];

test.each(cures)('R-LLM-3: a %s is told in both languages, with the setting that mends it', (kind, variable) => {
  const error = new UpstreamError(kind, 'its own words', { status: 400 });
  const [en, zh] = (['en', 'zh-CN'] as const).map((language) => advise(error, { ...context, language }).message);
  for (const text of [en, zh]) {
    expect(text).toContain(variable);
    expect(text).toMatch(/models\.example|big/);
    expect(text).not.toMatch(/undefined|object/);
  }
  expect(en).toMatch(/^[\x20-\x7e]+$/);
  expect(zh).toMatch(/[\u4e00-\u9fff].*。$/);
  if (kind !== 'empty') for (const text of [en, zh]) expect(text).toContain('400: its own words');
});

test('R-LLM-3: what was asked behind a failed model is told in both languages', () => {
  expect(together('It failed.', 'b (server)', 'en')).toBe('It failed. What stands behind it failed too: b (server).');
  expect(together('失败了。', 'b (server)', 'zh-CN')).toContain('b (server)');
});
