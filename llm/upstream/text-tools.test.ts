import { expect, test } from 'vitest';
import type { ChatBody } from '../chat-body.ts';
import { Dialect } from './dialect.ts';
import { shapeBody } from './shape-body.ts';

const tools = [
  { type: 'function', function: { name: 'ls', description: 'lists $& files', parameters: { type: 'object' } } },
];
const history: ChatBody['messages'] = [
  { role: 'system', content: 'You are a coder.' },
  { role: 'user', content: 'look' },
  {
    role: 'assistant',
    content: 'So.',
    tool_calls: [
      { id: 'a', function: { name: 'ls', arguments: '{"path":"src"}' } },
      { id: 'b', function: { name: 'ls', arguments: '' } },
    ],
  },
  { role: 'tool', tool_call_id: 'a', content: 'x.ts' },
  { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'src' }] },
  { role: 'user', content: 'go on' },
];
const shape = (more: Partial<ChatBody> = {}) =>
  shapeBody({ model: 'm', messages: history, tools, ...more }, Dialect.parse({ tools: 'text' }));
const contents = (body: ChatBody) => body.messages.map(({ content }) => String(content));

test('R-LLM-18: for a gateway without tools, list and form of calls stand in the prompt, and no field speaks of tools', () => {
  const shaped = shape({ tool_choice: 'auto', parallel_tool_calls: true });
  for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) expect(shaped).not.toHaveProperty(field);
  const [system = ''] = contents(shaped);
  expect(system).toMatch(/^You are a coder\.\n\n# How to use tools/);
  expect(system).toContain('## ls\n\nlists $& files\n\nArguments, as a JSON schema: {"type":"object"}');
  expect(system).toContain('<tool_call>\n{"name": "TOOL"');
  expect(contents(shape({ tool_choice: 'required' }))[0]).toMatch(/must call a tool\.$/);
  expect(contents(shape({ messages: [{ role: 'user', content: 'x' }] }))[0]).toMatch(/^# How to use tools/);
});

test('R-LLM-18: calls and results of the history are text, and roles alternate', () => {
  const shaped = shape();
  expect(shaped.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  const [, , calls, results] = contents(shaped);
  expect(calls).toBe(
    'So.\n<tool_call>\n{"name": "ls", "arguments": {"path":"src"}}\n</tool_call>\n<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>',
  );
  expect(results).toBe(
    '<tool_response name="ls">\nx.ts\n</tool_response>\n\n<tool_response name="ls">\nsrc\n</tool_response>\n\ngo on',
  );
});

test('R-LLM-18: where no tools are offered, nothing is added', () => {
  const plain: ChatBody = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
  expect(shapeBody(plain, Dialect.parse({ tools: 'text' })).messages).toEqual(plain.messages);
  expect(contents(shape({ tool_choice: 'none' }))[0]).toBe('You are a coder.');
});
