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
  expect(wait({ 'x-ratelimit-reset-requests': '6m0s' })).toBe(360_000);
  expect(wait({ 'x-ratelimit-reset-tokens': '250ms', 'x-ratelimit-reset-requests': '1s' })).toBe(1000);
  expect(wait({ 'x-ratelimit-reset': '30' })).toBe(30_000);
  expect(wait({ 'x-ratelimit-reset': String(now / 1000 + 5) })).toBe(5000);
  expect(wait({ 'x-ratelimit-reset': String(now + 7000) })).toBe(7000);
  expect(wait({})).toBeUndefined();
});
