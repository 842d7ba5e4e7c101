import { expect, test } from 'vitest';
import { type ChatBody, toChatBody } from '../chat-body.ts';
import { CallMarks } from './call-marks.ts';
import { cleanBody } from './clean-body.ts';
import { Dialect } from './dialect.ts';
import { shapeBody } from './shape-body.ts';

const call = (id: string, more: object = {}) => ({
  ...{ id, name: 'ls', input: { p: 1 }, origin: 'native' as const },
  ...more,
});
const assistant = { role: 'assistant' as const, content: '', finish: 'tool_calls' as const, usage: null };
const result = (id: string) => ({ role: 'tool' as const, call_id: id, name: 'ls', content: `of ${id}`, ok: true });
const tools = [{ name: 'ls', description: 'lists', parameters: { type: 'object' } }];
const body = toChatBody({
  turns: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'old' },
    { ...assistant, content: 'answer', reasoning: 'long ago', calls: [] },
    { ...assistant, reasoning: 'all thinking', calls: [] },
    { role: 'user', content: 'new' },
    { ...assistant, reasoning: 'hm', calls: [call('k', { signature: 'c2ln' })] },
    result('k'),
  ],
  tools,
  choice: 'default',
  turn: 0,
  maxOutputTokens: 99,
});
const shape = (dialect: object, asked: ChatBody = body) => shapeBody(asked, Dialect.parse(dialect));
const assistants = (shaped: ChatBody) => shaped.messages.filter(({ role }) => role === 'assistant');
const conversation = (...messages: ChatBody['messages']): ChatBody => ({ model: 'm', messages, tools: body.tools });
const calling = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'ls', arguments: '{}' } })),
});
const answer = (id: string) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` });

test('R-LLM-16: a request streams, asks for usage, and holds calls with signatures, and the thinking of the current loop only', () => {
  const shaped = shape({});
  expect(shaped).toMatchObject({ stream: true, stream_options: { include_usage: true }, max_tokens: 99 });
  expect(shaped.tools).toEqual([{ type: 'function', function: tools[0] }]);
  expect(assistants(shaped)).toEqual([
    { role: 'assistant', content: 'answer' },
    {
      ...{ role: 'assistant', content: null, reasoning_content: 'hm' },
      tool_calls: [
        {
          ...{ id: 'k', type: 'function', function: { name: 'ls', arguments: '{"p":1}' } },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
      ],
    },
  ]);
  expect(shaped.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'k', content: 'of k' });
});

test('R-LLM-16: thinking goes back as the model wants it: with every message, or never', () => {
  const thoughts = (dialect: object) => assistants(shape(dialect)).map((message) => message.reasoning_content);
  expect(thoughts({ reasoning: 'all' })).toEqual(['long ago', 'hm']);
  expect(thoughts({ reasoning: 'never' })).toEqual([undefined, undefined]);
  const without = shape({ reasoning: 'all' }, conversation({ role: 'user', content: 'x' }, calling('a'), answer('a')));
  expect(assistants(without)[0]).toMatchObject({ reasoning_content: '' });
});

test('R-LLM-16: no assistant message has neither content nor calls', () => {
  const nothing = [null, '', ' \n', [], undefined].map((content) => ({ role: 'assistant', content, tool_calls: [] }));
  const shaped = shape({}, conversation({ role: 'user', content: 'x' }, ...nothing, calling('a'), answer('a')));
  expect(assistants(shaped)).toHaveLength(1);
  const text = shape({}, conversation({ role: 'assistant', content: 'x', tool_calls: [] }));
  expect(text.messages[0]).toEqual({ role: 'assistant', content: 'x' });
});

test('R-LLM-16: empty content beside calls is null, an empty string, or not there, as the model takes it', () => {
  const asked = conversation({ role: 'user', content: '' }, calling('a'), { ...answer('a'), content: '' });
  expect(assistants(shape({}, asked))[0]).toHaveProperty('content', null);
  expect(assistants(shape({ emptyContent: 'blank' }, asked))[0]).toHaveProperty('content', '');
  const absent = shape({ emptyContent: 'absent' }, asked);
  expect(assistants(absent)[0]).not.toHaveProperty('content');
  expect(absent.messages.map(({ content }) => content)).toEqual(['(nothing)', undefined, '(nothing)']);
});

test('R-LLM-16: the limit of the output goes by the name that the model knows, within its bounds', () => {
  expect(shape({ limitField: 'max_completion_tokens' })).toMatchObject({ max_completion_tokens: 99 });
  expect(shape({ limitField: 'max_completion_tokens' })).not.toHaveProperty('max_tokens');
  expect(shape({ limitField: 'none' })).not.toHaveProperty('max_tokens');
  expect(shape({ maxOutput: 50 })).toMatchObject({ max_tokens: 50 });
});

test('R-LLM-16: fields that were refused are left out, also inside the tools', () => {
  const strict = { ...body, store: false, tools: [{ type: 'function', function: { name: 'ls', strict: true } }] };
  expect(shape({ leftOut: ['stream', 'stream_options'] })).not.toHaveProperty('stream');
  const shaped = shape({ leftOut: ['stream_options', 'store', 'strict', 'extra_content'] }, strict);
  expect(shaped).not.toHaveProperty('stream_options');
  expect(shaped).not.toHaveProperty('store');
  expect(shaped.tools).toEqual([{ type: 'function', function: { name: 'ls' } }]);
  expect(JSON.stringify(shaped)).not.toContain('extra_content');
});

test.each([
  ['nine', /^[A-Za-z0-9]{9}$/],
  ['plain', /^[A-Za-z0-9_-]{1,40}$/],
])('R-LLM-16: ids of calls in the form %s still pair calls with results', (callIds, form) => {
  const ids = ['functions.ls:0', 'functions_ls_0', 'call_0123456789abcdef01234567', 'x'.repeat(80), 'a1B2c3D4e'];
  const shaped = shape({ callIds }, conversation(calling(...ids), ...ids.map(answer)));
  const [first] = assistants(shaped) as { tool_calls?: { id: string }[] }[];
  const sent = (first?.tool_calls ?? []).map(({ id }) => id);
  for (const id of sent) expect(id).toMatch(form);
  expect(new Set(sent).size).toBe(ids.length);
  expect(shaped.messages.slice(1).map((message) => message.tool_call_id)).toEqual(sent);
  expect(sent.at(-1)).toBe('a1B2c3D4e');
});

test('R-LLM-16: where a user message may not follow a result, a short answer stands between', () => {
  const asked = conversation({ role: 'user', content: 'a' }, calling('a'), answer('a'), { role: 'user', content: 'b' });
  expect(shape({}, asked).messages).toHaveLength(4);
  const roles = shape({ afterTools: 'assistant' }, asked).messages.map(({ role }) => role);
  expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
});

test('R-LLM-16: without parallel calls, each call of the history stands alone with its result', () => {
  const asked = conversation(
    ...[
      { role: 'user', content: 'x' },
      { ...calling('a', 'b', 'lost'), content: 'both' },
    ],
    ...[answer('b'), answer('a'), { role: 'user', content: 'y' }],
  );
  const { messages } = shape({ parallelCalls: false }, asked);
  const told = messages.map((message) => {
    const [first, ...more] = (message.tool_calls ?? []) as { id: string }[];
    expect(more).toEqual([]);
    return [message.role, first?.id ?? message.tool_call_id ?? message.content];
  });
  expect(told).toEqual([
    ...[
      ['user', 'x'],
      ['assistant', 'a'],
      ['tool', 'a'],
      ['assistant', 'b'],
      ['tool', 'b'],
    ],
    ...[
      ['assistant', 'lost'],
      ['user', 'y'],
    ],
  ]);
  expect(messages.map(({ content }) => content)).toEqual(['x', 'both', 'of a', null, 'of b', null, 'y']);
});

test('R-LLM-16: a history with calls always goes with tools, which may then not be called', () => {
  const { tools: _, ...without } = conversation({ role: 'user', content: 'x' }, calling('a'), answer('a'));
  const shaped = shape({}, without);
  expect(shaped.tools).toMatchObject([{ type: 'function', function: { name: 'ls' } }]);
  expect(shaped.tool_choice).toBe('none');
  const bare = {
    model: 'm',
    n: 3,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    messages: without.messages.slice(0, 1),
  };
  expect(Object.keys(shape({}, bare)).sort()).toEqual(['messages', 'model', 'stream', 'stream_options']);
  expect(shape({}, { model: 'm', tools: [], messages: [{ role: 'user', content: 'x' }] })).not.toHaveProperty('tools');
});

test('R-LLM-16: developer is the system, and the system can be a part of the first user message', () => {
  const asked = conversation({ role: 'developer', content: 'rules' }, { role: 'user', content: 'x' });
  expect(shape({}, asked).messages[0]).toEqual({ role: 'system', content: 'rules' });
  expect(shape({ system: 'user' }, asked).messages).toEqual([{ role: 'user', content: 'rules\n\nx' }]);
});

test('R-LLM-16: a signature that a provider misses is made up only when it asked for it', () => {
  const asked = conversation({ role: 'user', content: 'x' }, calling('a'), answer('a'));
  expect(JSON.stringify(shape({}, asked))).not.toContain('signature');
  expect(JSON.stringify(shape({ signatures: 'filled' }, asked))).toContain('skip_thought_signature_validator');
});

test('R-LLM-16: half a surrogate pair is replaced in every text, also where JSON hides it in arguments', () => {
  const cut = toChatBody({
    turns: [
      { role: 'user', content: 'cut \uD83D here' },
      { ...assistant, calls: [call('k', { input: { text: 'also \uD83D, \uDE00 but 😀' } })] },
    ],
    tools: [{ name: 'ls', description: 'lists \uD83D', parameters: { type: 'object' } }],
    choice: 'default',
    turn: 0,
  });
  const sent = JSON.stringify(cleanBody(cut, (text) => text));
  expect(sent).not.toMatch(/\\ud83d(?!\\ude00)/i);
  expect(sent.match(/\uFFFD/g)).toHaveLength(4);
  expect(sent).toContain('😀');
});

test('R-LLM-16: signatures and thoughts that a program dropped go back with the calls they came with', () => {
  const marks = new CallMarks();
  const native = { id: 'a', name: 'ls', input: {}, raw: '{}', origin: 'native' as const, signature: 'c2ln' };
  marks.remember({ content: '', reasoning: 'hm', calls: [native], dropped: [], finish: 'tool_calls', usage: null });
  const [restored, other] = marks.restore([calling('a'), calling('b')]);
  expect(restored).toMatchObject({
    reasoning_content: 'hm',
    tool_calls: [{ id: 'a', extra_content: { google: { thought_signature: 'c2ln' } } }],
  });
  expect(other).toEqual(calling('b'));
});
