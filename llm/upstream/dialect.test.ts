import { expect, test } from 'vitest';
import { type ChatBody, toChatBody } from '../chat-body.ts';
import { Dialects } from './dialect.ts';
import { UpstreamError } from './errors.ts';

const call = { id: 'k', name: 'ls', input: { p: 1 }, origin: 'native' as const, signature: 'c2ln' };
const assistant = {
  role: 'assistant' as const,
  content: '',
  reasoning: 'hm',
  finish: 'tool_calls' as const,
  usage: null,
};
const body = toChatBody({
  turns: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'old' },
    { ...assistant, content: 'answer', calls: [] },
    { ...assistant, content: '', calls: [] },
    { role: 'user', content: 'new' },
    { ...assistant, calls: [call] },
    { role: 'tool', call_id: 'k', name: 'ls', content: 'a b', ok: true },
  ],
  tools: [{ name: 'ls', description: 'lists', parameters: { type: 'object' } }],
  choice: 'default',
  turn: 0,
  maxOutputTokens: 99,
});
const refusal = (message: string) => new UpstreamError('bad_request', message, { status: 400 });
const messages = (shaped: ChatBody) => shaped.messages.filter((message) => message.role === 'assistant');

test('R-LLM-1: a request holds what providers want back: calls with signatures, thinking of the current loop only', () => {
  const shaped = new Dialects().shape(body);
  expect(shaped).toMatchObject({ stream: true, stream_options: { include_usage: true }, max_tokens: 99 });
  expect(shaped.tools).toEqual([
    { type: 'function', function: { name: 'ls', description: 'lists', parameters: { type: 'object' } } },
  ]);
  expect(messages(shaped)).toEqual([
    { role: 'assistant', content: 'answer' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      tool_calls: [
        {
          id: 'k',
          type: 'function',
          function: { name: 'ls', arguments: '{"p":1}' },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
      ],
    },
  ]);
  expect(shaped.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'k', content: 'a b' });
});

test('R-LLM-1: a refusal that names a field is learned from once, for that model alone', () => {
  const dialects = new Dialects();
  expect(dialects.learn(body, refusal('unknown field reasoning_content'))).toBe(true);
  expect(messages(dialects.shape(body))[1]).not.toHaveProperty('reasoning_content');
  expect(dialects.learn(body, refusal('unknown field reasoning_content'))).toBe(false);
  expect(messages(dialects.shape({ ...body, model: 'other' }))[1]).toHaveProperty('reasoning_content');

  expect(dialects.learn(body, refusal('max_tokens is not supported, use max_completion_tokens'))).toBe(true);
  expect(dialects.shape(body)).toMatchObject({ max_completion_tokens: 99 });
  expect(dialects.shape(body)).not.toHaveProperty('max_tokens');

  expect(dialects.learn(body, refusal('stream_options: extra fields not permitted'))).toBe(true);
  expect(dialects.shape(body)).not.toHaveProperty('stream_options');

  expect(dialects.learn(body, refusal('content must be a string, not null'))).toBe(true);
  expect(messages(dialects.shape(body))[1]).toMatchObject({ content: '' });

  expect(dialects.learn(body, refusal('temperature is out of range'))).toBe(false);
  expect(dialects.learn(body, new UpstreamError('server', 'stream_options'))).toBe(false);
});
