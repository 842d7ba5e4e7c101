import { expect, test } from 'vitest';
import { ModelError, type ModelErrorKind } from '../core/model.ts';
import { causeOfError, causeOfFailure } from './task-cause.ts';

test.each<[ModelErrorKind, string]>([
  ['quota', 'quota'],
  ['rate_limit', 'rate_limited'],
  ['auth', 'auth'],
  ['empty', 'empty_reply'],
  ['misconfigured', 'misconfigured'],
  ['budget', 'budget'],
  ...(['overloaded', 'context_length', 'content_filter', 'bad_request', 'server'] as const).map(
    (kind): [ModelErrorKind, string] => [kind, 'upstream_error'],
  ),
  ...(['incomplete', 'bad_event', 'not_sse', 'timeout', 'stalled'] as const).map((kind): [ModelErrorKind, string] => [
    kind,
    'upstream_error',
  ]),
])('R-LLM-19: a model that fails with %s ends the run as %s, in a task and before it', (kind, cause) => {
  const issues = [{ severity: 'blocking' as const, message: 'said', evidence: `model_error:${kind}` }];
  const result = { status: 'failed' as const, summary: '', artifacts: [], issues };
  expect(causeOfFailure(result)).toEqual({ cause, message: 'said' });
  expect(causeOfError(new ModelError(kind, 'said', { retryable: false }))).toBe(cause);
});
