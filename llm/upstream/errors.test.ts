import { expect, test } from 'vitest';
import { fromWireError, toWireError } from '../server/wire-error.ts';
import { failureIn, failureOfStatus, firstLine } from './errors.ts';
import { waitFrom } from './retry-after.ts';

const inStream = (message: string, more: object = {}) => failureIn({ error: { message, ...more } })?.kind;

test('R-LLM-3: context-length wordings of many providers are one kind', () => {
  for (const wording of [
    "This model's maximum context length is 8192 tokens",
    'prompt is too long: 201 tokens > 200 maximum',
    'Input is too long for requested model',
    'Your input exceeds the context window of this model',
    'invalid params, context window exceeds limit',
    'the request exceeds the available context size',
    'The number of tokens to keep is greater than the context length',
    'The input token count (9) exceeds the maximum number of tokens allowed (8)',
    "This model's maximum prompt length is 131072",
    'Please reduce the length of the messages or completion',
    'Your request exceeded model token limit: 8192',
    'Prompt contains 9 tokens, too large for model with 8 maximum context length',
    "This model's context length is only 8 tokens",
    'input length 9 exceeds the context length 8',
    'prompt token count of 9 exceeds the limit of 8',
    'too many tokens in the request',
  ]) {
    expect(inStream(wording), wording).toBe('context_length');
    expect(failureOfStatus(400, JSON.stringify({ error: { message: wording } })).kind, wording).toBe('context_length');
  }
  expect(failureOfStatus(413, '').kind).toBe('context_length');
});

test.each([
  [
    'quota',
    ['insufficient_quota', 'Insufficient Balance', 'Insufficient account balance', '账户余额不足', 'error 402'],
  ],
  ['quota', ['Your credit balance is too low to access the API']],
  [
    'rate_limit',
    ['Rate limit reached', 'rate_limit_exceeded', 'Too Many Requests', 'ThrottlingException', '9 per minute'],
  ],
  ['rate_limit', ['code: 1302', 'error 1305', 'status_code=429', 'HTTP 429 from upstream']],
  ['overloaded', ['overloaded_error', 'at capacity', 'Service Unavailable', 'code 503', 'error: 529']],
  [
    'auth',
    ['invalid api key', 'invalid_api_key', 'Incorrect API key provided', 'authentication_error', 'Unauthorized'],
  ],
  ['auth', ['permission_denied', 'status 401', 'HTTP: 403']],
  ['content_filter', ['content_filter', 'violates our content policy', 'data_inspection_failed']],
  ['bad_request', ['invalid_request_error', 'code=400', 'error 404', 'status: 422']],
  ['server', ['upstream broke', 'code 500', 'barcode 402 is fine', 'error 4290', '429 lines']],
] as const)('R-LLM-3: the wordings of %s, whatever their case', (kind, wordings) => {
  for (const wording of wordings) {
    expect(inStream(wording), wording).toBe(kind);
    if (!/\d/.test(wording)) expect(inStream(wording.toUpperCase()), wording).toBe(kind);
  }
});

test('R-LLM-3: code, type, status and message count together, numbers also as words of JSON', () => {
  expect(inStream('x', { code: 429 })).toBe('rate_limit');
  expect(inStream('x', { code: 'x', status: 429 })).toBe('rate_limit');
  expect(inStream('x', { status: '503' })).toBe('overloaded');
  expect(inStream('x', { status: 'UNAVAILABLE' })).toBe('overloaded');
  expect(inStream('x', { type: 'authentication_error', code: null })).toBe('auth');
  expect(inStream('upstream said {"code":"429"}')).toBe('rate_limit');
  expect(failureIn({ error: 'refused', status: 401 })?.kind).toBe('auth');
  expect(failureIn({ error: 'Bad', message: 'rate limit exceeded', statusCode: 400 })?.kind).toBe('rate_limit');
  expect(failureIn({ detail: 'x', status: 402 })?.kind).toBe('quota');
});

test('R-LLM-3: a status that is an answer decides where words do not', () => {
  const kind = (status: number, body = '') => failureOfStatus(status, body).kind;
  expect([402, 429, 503, 529, 401, 403].map((status) => kind(status))).toEqual([
    ...['quota', 'rate_limit', 'overloaded', 'overloaded', 'auth', 'auth'],
  ]);
  expect([400, 404, 422, 413, 500, 418].map((status) => kind(status))).toEqual([
    ...['bad_request', 'bad_request', 'bad_request', 'context_length', 'server', 'server'],
  ]);
  expect(kind(400, '[{"error":{"code":400,"message":"API key expired","status":"UNAUTHENTICATED"}}]')).toBe(
    'bad_request',
  );
  expect(failureOfStatus(400, '[{"error":{"code":400,"message":"key expired"}}]').message).toBe('key expired');
  // only where a request may be too long
  expect(kind(500, '{"error":{"message":"prompt is too long"}}')).toBe('server');
  expect(kind(422, '{"detail":"prompt is too long"}')).toBe('context_length');
  expect(kind(502, '<html><head><title>502 Bad Gateway</title>')).toBe('server');
});

test('R-LLM-3: the first rule wins: quota before rate limit, rate limit before too many tokens', () => {
  expect(inStream('You have no credit', { code: 'insufficient_quota' })).toBe('quota');
  expect(failureOfStatus(429, '{"error":{"message":"x","type":"insufficient_quota"}}').kind).toBe('quota');
  expect(inStream('Too many tokens per minute')).toBe('rate_limit');
  expect(inStream('busy', { code: '1302' })).toBe('rate_limit');
  expect(inStream('The server is at capacity')).toBe('overloaded');
  expect(inStream('Invalid API key')).toBe('auth');
  expect(inStream('blocked', { code: 'data_inspection_failed' })).toBe('content_filter');
  expect(inStream('what', { type: 'invalid_request_error' })).toBe('bad_request');
  expect(inStream('who knows')).toBe('server');
});

test('R-LLM-3: a number counts as the whole of code or status, or straight after such a word, not in prose', () => {
  expect(inStream('upstream error: 402')).toBe('quota');
  expect(inStream('HTTP 429')).toBe('rate_limit');
  expect(inStream('status=503 from the pool')).toBe('overloaded');
  expect(inStream('wrote 429 lines and 402 more')).toBe('server');
});

test('R-LLM-3: the error is found wherever a provider puts it', () => {
  expect(failureIn({ error: 'unauthorized' })?.kind).toBe('auth');
  expect(failureIn({ type: 'error', message: 'overloaded' })?.kind).toBe('overloaded');
  expect(failureIn({ object: 'error', message: 'x', code: 401 })?.kind).toBe('auth');
  expect(failureIn({ detail: 'too many requests' })?.kind).toBe('rate_limit');
  expect(failureIn({ code: 50, message: 'rate limit' })?.kind).toBe('rate_limit');
  expect(failureIn({ choices: [], code: 50, message: 'fine' })).toBeUndefined();
  expect(failureIn({ error: null, choices: [] })).toBeUndefined();
});

test('R-LLM-3: only what may pass is retryable, and a header decides the doubtful', () => {
  const retryable = (status: number, shouldRetry?: boolean) =>
    failureOfStatus(status, '', undefined, shouldRetry).retryable;
  expect([408, 409, 429, 500, 502, 503, 504, 529].map((status) => retryable(status))).not.toContain(false);
  expect([307, 400, 401, 402, 403, 404, 405, 413, 422].map((status) => retryable(status))).not.toContain(true);
  expect([retryable(500, false), retryable(400, true), retryable(401, true)]).toEqual([false, true, false]);
});

test('R-LLM-13: a page is told by its title, a text by its first line', () => {
  expect(firstLine('<!doctype html>\n<html><head><title>\n Sign in </title>')).toBe('Sign in');
  expect(firstLine('\nupstream connect error\nmore')).toBe('upstream connect error');
  expect(failureOfStatus(502, '').message).toBe('status 502 without a body');
  expect(failureOfStatus(422, '{"detail":[{"msg":"field required"}]}').message).toContain('field required');
});

test('R-LLM-9: kind, message and retryable survive the wire; what is not ours is not taken', () => {
  const error = failureOfStatus(429, '{"error":{"message":"slow"}}');
  expect(fromWireError(toWireError(error).body)).toMatchObject({
    kind: 'rate_limit',
    message: 'slow',
    retryable: true,
  });
  expect(fromWireError({ error: { message: 'x', code: 'rate_limit' } })).toBeUndefined();
});

test('R-LLM-4: the wait is read in all forms, absurd ones refused', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const wait = (headers: Record<string, string>) => waitFrom(new Headers(headers), now);
  expect(wait({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
  expect(wait({ 'retry-after': '1.5' })).toBe(1500);
  expect(wait({ 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' })).toBe(20_000);
  expect(wait({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' })).toBeUndefined();
  expect(wait({ 'retry-after': '-5' })).toBeUndefined();
  expect(wait({ 'retry-after': 'soon' })).toBeUndefined();
  expect(wait({ 'retry-after': '99999999' })).toBeUndefined();
  expect(wait({ 'retry-after': '0' })).toBe(0);
  expect(wait({ 'retry-after': 'Thursday, 01-Jan-26 00:00:09 GMT' })).toBe(9000);
  expect(wait({ 'retry-after': 'Thu Jan  1 00:00:08 2026' })).toBe(8000);
  // what is refused gives way to the next form
  expect(wait({ 'retry-after-ms': '-1', 'retry-after': '2' })).toBe(2000);
  expect(wait({ 'retry-after': 'soon', 'x-ratelimit-reset': '3' })).toBe(3000);
  expect(wait({ 'x-ratelimit-reset-requests': '1h2m3.5s' })).toBe(3_723_500);
  expect(wait({ 'x-ratelimit-reset-tokens': '2026-01-01T00:00:04Z' })).toBe(4000);
  expect(wait({ 'x-ratelimit-reset': 'tomorrow' })).toBeUndefined();
  const both = { 'x-ratelimit-reset-requests-day': '33011.38', 'x-ratelimit-reset-tokens-minute': '11.5' };
  expect(wait({ ...both, 'x-ratelimit-remaining-tokens-minute': '0' })).toBe(11_500);
  expect(wait({ 'x-ratelimit-reset-requests': '6m0s' })).toBe(360_000);
  expect(wait({ 'x-ratelimit-reset-tokens': '250ms', 'x-ratelimit-reset-requests': '1s' })).toBe(1000);
  expect(wait({ 'x-ratelimit-reset': '30' })).toBe(30_000);
  expect(wait({ 'x-ratelimit-reset': String(now / 1000 + 5) })).toBe(5000);
  expect(wait({ 'x-ratelimit-reset': String(now + 7000) })).toBe(7000);
  expect(wait({})).toBeUndefined();
});
