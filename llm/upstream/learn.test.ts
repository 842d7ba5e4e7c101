import { expect, test } from 'vitest';
import type { ChatBody } from '../chat-body.ts';
import { Dialect } from './dialect.ts';
import { UpstreamError } from './errors.ts';
import { learnFrom } from './learn.ts';
import { shapeBody } from './shape-body.ts';

const asked: ChatBody = {
  ...{ model: 'm', temperature: 0.2, store: false, parallel_tool_calls: true, max_tokens: 9000 },
  messages: [{ role: 'user', content: 'x' }],
  tools: [{ type: 'function', function: { name: 'ls', strict: true } }],
};

/** What the given refusals teach, one after the other. */
function learned(said: string | readonly string[], start: object = {}, kind: 'bad_request' | 'server' = 'bad_request') {
  let dialect = Dialect.parse(start);
  const tried = new Set<string>();
  for (const message of typeof said === 'string' ? [said] : said) {
    tried.add(JSON.stringify(dialect));
    const error = new UpstreamError(kind, message, { status: kind === 'server' ? 500 : 400 });
    const next = learnFrom(dialect, shapeBody(asked, dialect), error, tried);
    if (!next) return undefined;
    dialect = next;
  }
  return dialect;
}

test.each([
  ["Unsupported parameter: 'max_tokens' is not supported with this model.", { limitField: 'max_completion_tokens' }],
  ['Unrecognized request argument supplied: max_completion_tokens', { limitField: 'max_completion_tokens' }],
  ['max_tokens is too large: 9000. This model supports at most 8192 completion tokens', { maxOutput: 8192 }],
  ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', { maxOutput: 8192 }],
  ['Unrecognized request argument: stream_options', { leftOut: ['stream_options'] }],
  ['{"detail":[{"loc":["body","parallel_tool_calls"],"msg":"extra"}]}', { leftOut: ['parallel_tool_calls'] }],
  ['Streaming is not supported for this model', { leftOut: ['stream', 'stream_options'] }],
  ["Unknown parameter: 'store'.", { leftOut: ['store'] }],
  ["Unsupported value: 'temperature' does not support 0.2 with this model.", { leftOut: ['temperature'] }],
  ["tools[0].function: property 'strict' is not supported", { leftOut: ['strict'] }],
  ['unknown field reasoning_content', { reasoning: 'never' }],
  ['Missing `reasoning_content` field in the assistant message at message index 2', { reasoning: 'all' }],
  ['Function call is missing a thought_signature in functionCall parts', { signatures: 'filled' }],
  ['Unknown name "extra_content" at messages[1]', { leftOut: ['extra_content'] }],
  ['content must be a string, not null', { emptyContent: 'blank' }],
  ['Tool call id was k but must be a-z, A-Z, 0-9, with a length of 9.', { callIds: 'nine' }],
  ["tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", { callIds: 'plain' }],
  ["Invalid 'messages[1].tool_calls[0].id': string too long. Expected maximum length 40", { callIds: 'plain' }],
  ["Unexpected role 'user' after role 'tool'", { afterTools: 'assistant' }],
  ['This model only supports single tool-calls at once!', { parallelCalls: false }],
  ['System role not supported', { system: 'user' }],
  ['registry.ollama.ai/library/gemma:2b does not support tools', { tools: 'text' }],
  ['No endpoints found that support tool use.', { tools: 'text' }],
  ['"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', { tools: 'text' }],
  ["Unrecognized request argument supplied: 'tools'", { tools: 'text' }],
  ['function calling is not supported by this deployment', { tools: 'text' }],
])('R-LLM-17: a refusal teaches: %s', (said, wanted) => {
  expect(learned(said)).toMatchObject(wanted);
});

test('R-LLM-17: a gateway that refuses tools with a 500 teaches the same', () => {
  expect(learned('tools param requires --jinja flag', {}, 'server')).toMatchObject({ tools: 'text' });
  expect(learned('stream_options are not supported', {}, 'server')).toBeUndefined();
});

test('R-LLM-17: a switch is flipped once and not back, so that learning ends', () => {
  const field = 'unknown field reasoning_content';
  expect(learned([field, field])).toBeUndefined();
  expect(learned('reasoning_content is not permitted here', { reasoning: 'never' })).toMatchObject({
    reasoning: 'loop',
  });
  const limit = "'max_tokens' and 'max_completion_tokens' are not supported";
  expect(learned([limit, limit])).toMatchObject({ limitField: 'none' });
  expect(learned([limit, limit, limit, limit])).toBeUndefined();
  const content = 'text content blocks must be non-empty';
  expect(learned([content, content])).toMatchObject({ emptyContent: 'absent' });
  expect(learned([content, content, content])).toBeUndefined();
});

test('R-LLM-17: what names nothing of the request teaches nothing', () => {
  for (const said of [
    'temperature is out of range',
    'The last message must come from the user, before the store opens',
    "Invalid schema for function 'ls': tools must have a type",
    'An assistant message with tool_calls must be followed by tool messages for each tool_call_id',
  ]) {
    expect(learned(said), said).toBeUndefined();
  }
});
