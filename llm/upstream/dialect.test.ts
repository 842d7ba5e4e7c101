import { expect, test } from 'vitest';
import { Dialect, Dialects, dialectKey, presumedDialect } from './dialect.ts';

test('R-LLM-15: a dialect is one object that can be written down, and what is missing in it has its default', () => {
  const learned = new Dialects();
  learned.set('http://host:1/v1/', 'm', Dialect.parse({ tools: 'text', leftOut: ['stream_options'] }));
  const written = JSON.parse(JSON.stringify(learned.table()));
  expect(Object.keys(written)).toEqual(['host:1/v1 m']);
  const next = new Dialects(written);
  expect(next.of('http://host:1/v1', 'm')).toMatchObject({ tools: 'text', leftOut: ['stream_options'] });
  expect(next.of('http://host:1/v1', 'other')).toEqual(Dialect.parse({}));
  expect(next.of('http://host:2/v1', 'm')).toEqual(Dialect.parse({}));
  const partly = new Dialects({ [dialectKey('https://h/v1', 'mistral-large')]: { callIds: 'kept' } });
  expect(partly.of('https://h/v1', 'mistral-large')).toMatchObject({ callIds: 'kept', afterTools: 'assistant' });
});

test.each([
  ['gpt-5-mini', { limitField: 'max_completion_tokens' }],
  ['openai/o3', { limitField: 'max_completion_tokens' }],
  ['gpt-4o', { limitField: 'max_tokens', callIds: 'kept' }],
  ['mistralai/Mistral-Large-2411', { callIds: 'nine', afterTools: 'assistant' }],
  ['codestral-latest', { callIds: 'nine' }],
  ['anthropic/claude-sonnet-4', { callIds: 'plain' }],
  ['deepseek-chat', { callIds: 'kept', reasoning: 'loop', tools: 'native' }],
])('R-LLM-15: the name %s says what is already known', (model, wanted) => {
  expect(presumedDialect(model)).toMatchObject(wanted);
});
