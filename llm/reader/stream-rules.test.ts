import { expect, test } from 'vitest';
import { ModelError } from '../../core/model.ts';
import type { Usage } from '../../protocol/index.ts';
import { ReplyReader } from './reply-reader.ts';

const chunk = (delta: unknown, finish: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })}`;
const says = (content: string) => chunk({ content });
const stop = chunk({}, 'stop');
const DONE = 'data: [DONE]';
/** The lines as a stream: a blank one behind each. */
const stream = (...events: string[]) => events.map((event) => `${event}\n\n`).join('');

interface Read {
  readonly usage?: Usage | null;
  readonly [part: string]: unknown;
}

/** What a body is read as, whole and in pieces of one byte, which must not differ. */
function read(raw: string, offered: string[] = ['ls']): Read {
  const bytes = new TextEncoder().encode(raw);
  const [whole, cut] = [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))].map((pieces) =>
    readIn(pieces, offered),
  );
  expect(cut).toEqual(whole);
  return whole ?? { kind: 'nothing' };
}

function readIn(pieces: readonly Uint8Array[], offered: string[]): Read {
  const reader = new ReplyReader({ offered: new Set(offered) });
  try {
    for (const piece of pieces) reader.push(piece);
    const { content, reasoning, finish, usage, calls } = reader.end();
    return {
      content,
      reasoning,
      finish,
      usage,
      calls: calls.map(({ name, input, broken }) => (broken ? name : [name, input])),
    };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { kind: error.kind, message: error.message };
  }
}

test.each([
  ['E1: LF, CRLF and CR, also mixed', `${says('a')}\r\n\r\n${says('b')}\r\r${says('c')}\n\r\n${stop}\n\n`, 'abc'],
  ['E1: a BOM at the start', `\uFEFF${stream(says('a'), stop)}`, 'a'],
  ['E2: no space behind the colon, and comments', `: hello\n\n${stream(says('a').replace(': ', ':'), ':', stop)}`, 'a'],
  [
    'E2: id, retry, unknown fields and names of events',
    `id: 1\nretry: 5\nfoo: x\nevent: message\n${stream(says('a'), stop)}`,
    'a',
  ],
  ['E2: empty data', stream(says('a'), 'data:', 'data:   ', stop), 'a'],
  ['E3: data in several lines', stream(says('a').replace('"choices"', '\ndata: "choices"'), stop), 'a'],
  ['E4: a last event without a blank line', `${stream(says('a'))}${chunk({ content: 'b' }, 'stop')}`, 'ab'],
  ['E4: one that is cut is ignored', `${stream(says('a'), stop)}data: {"choi`, 'a'],
  ['E5: no blank lines at all', [says('a'), says('b'), stop, DONE].join('\n'), 'ab'],
  ['E6: characters of several bytes', stream(says('写好了 🎉'), stop), '写好了 🎉'],
  ['E7: nothing counts behind the end', stream(says('a'), 'data:  [DONE] ', says('b'), 'data: {"error":"late"}'), 'a'],
  ['E8: an event that is no JSON, if it is the last', stream(says('a'), stop, 'data: {"choi'), 'a'],
  ['E9: a plain completion', ' {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}', 'a'],
  [
    'E10: null and missing parts',
    stream(
      'data: {}',
      'data: {"choices":null}',
      chunk(null),
      chunk({ content: null, tool_calls: null }),
      says('a'),
      stop,
    ),
    'a',
  ],
  [
    'E10: other choices are not read',
    stream(`data: {"choices":[{"index":1,"delta":{"content":"b"}},{"delta":{"content":"a"}}]}`, stop),
    'a',
  ],
  [
    'E10: an empty delta gives way to the message',
    stream('data: {"choices":[{"delta":{},"message":{"content":"a"},"finish_reason":"stop"}]}'),
    'a',
  ],
  ['F2: a finish without an end', stream(says('a'), stop), 'a'],
  ['F2: an end without a finish', stream(says('a'), DONE), 'a'],
  [
    'F1: a finish on each chunk, and an empty one',
    stream(chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }, ''), DONE),
    'ab',
  ],
  ['G2: a refusal', stream(chunk({ refusal: 'no' }), stop), 'no'],
  [
    'G2: text parts',
    stream(
      chunk({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      stop,
    ),
    'ab',
  ],
])('R-LLM-1: %s', (_rule, raw, content) => {
  expect(read(raw)).toMatchObject({ content, finish: 'stop' });
});

test.each([
  ['E8: an event that is no JSON', stream(says('a'), 'data: {"choi', stop), 'bad_event'],
  ['E8: also before the end', stream(says('a'), 'data: oops', DONE), 'bad_event'],
  ['E9: a cut JSON body', '{"choices":[{"mess', 'incomplete'],
  ['E9: a page', '<!doctype html>\n<style>\n:root { color: red }\n</style>\n', 'not_sse'],
  ['E9: a text', 'upstream connect error', 'not_sse'],
  ['E9: nothing but comments', ': alive\n\n: alive\n\n', 'not_sse'],
  ['E9: an empty body', '', 'empty'],
  ['E9: blank lines', '\r\n\r\n', 'empty'],
  ['E9: an error instead of a reply', '{"error":{"message":"Too many requests"}}', 'rate_limit'],
  ['F1: error', stream(says('the wall fell'), chunk({}, 'error')), 'server'],
  ['F1: error_finish', stream(says('x'), chunk({}, 'error_finish'), DONE), 'server'],
  ['F1: network_error', stream(chunk({}, 'network_error')), 'server'],
  ['F1: insufficient_system_resource', stream(says('x'), chunk({}, 'insufficient_system_resource')), 'overloaded'],
  ['F2: neither finish nor end', stream(says('a')), 'incomplete'],
  ['F6: nothing', stream(chunk({ role: 'assistant', content: '' }), stop, DONE), 'empty'],
  ['F6: nothing and tool_calls', stream(chunk({}, 'tool_calls'), DONE), 'empty'],
  ['F6: nothing and no finish', stream(chunk({}), DONE), 'empty'],
  ['an error object in the stream', stream(says('a'), 'data: {"error":{"code":529,"message":"x"}}'), 'overloaded'],
  ['an error text in the stream', stream('data: {"error":"Unauthorized"}'), 'auth'],
  ['an error event', stream('event: error\ndata: {"message":"rate limit"}'), 'rate_limit'],
  ['an error event of plain text', stream('event: error\ndata: at capacity'), 'overloaded'],
  ['an object called error', stream('data: {"object":"error","message":"invalid_request"}'), 'bad_request'],
  ['a detail', stream('data: {"detail":"insufficient balance"}'), 'quota'],
  ['code and message', stream('data: {"code":"1305","message":"x"}'), 'rate_limit'],
])('R-LLM-3: %s', (_rule, raw, kind) => {
  expect(read(raw)).toMatchObject({ kind });
});

test.each([
  ...['stop', 'eos', 'end_turn', 'stop_sequence', 'whatever', 'tool_calls'].map((word) => [word, 'stop'] as const),
  ...['length', 'max_tokens', 'model_length', 'model_context_window_exceeded'].map((word) => [word, 'length'] as const),
  ...['content_filter', 'safety', 'sensitive'].map((word) => [word, 'content_filter'] as const),
])('R-LLM-1: F1, F3: the finish %s is %s where no tool is called', (word, finish) => {
  expect(read(stream(says('a'), chunk({}, word), DONE))).toMatchObject({ finish });
});

test.each(['stop', 'tool_calls', 'tool_use', 'function_call', 'whatever'])(
  'R-LLM-1: F3: with a call the finish %s is tool_calls',
  (word) => {
    const call = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } }] });
    expect(read(stream(call, chunk({}, word)))).toMatchObject({ finish: 'tool_calls', calls: [['ls', {}]] });
  },
);

test('R-LLM-1: F4, F6: a reply that was cut or filtered stays one, with the calls that are complete', () => {
  const calls = chunk({
    tool_calls: [
      { index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } },
      { index: 1, id: 'b', function: { name: 'cat', arguments: '{"p' } },
    ],
  });
  expect(read(stream(calls, chunk({}, 'length')))).toMatchObject({ finish: 'length', calls: [['ls', {}], 'cat'] });
  for (const finish of ['length', 'content_filter']) expect(read(stream(chunk({}, finish)))).toMatchObject({ finish });
});

test('R-LLM-1: A10: a function_call is one call', () => {
  const parts = [{ name: 'ls', arguments: '{"p"' }, { arguments: ':1}' }].map((part) => chunk({ function_call: part }));
  expect(read(stream(...parts, chunk({}, 'function_call')))).toMatchObject({ calls: [['ls', { p: 1 }]] });
});

test.each([
  ['reasoning_content', chunk({ reasoning_content: 'hm' })],
  ['reasoning', chunk({ reasoning: 'hm' })],
  ['reasoning_text', chunk({ reasoning_text: 'hm' })],
  ['reasoning_details', chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] })],
  ['two of them', chunk({ reasoning_content: 'hm', reasoning: 'hm', reasoning_details: [{ text: 'hm' }] })],
  ['an empty first one', chunk({ reasoning_content: '', reasoning: 'hm' })],
  ['a thinking part', chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] })],
  ['a thinking part that is a text', chunk({ content: [{ type: 'thinking', thinking: 'hm' }] })],
  ['a tag', chunk({ content: '<think>hm</think>' })],
])('R-LLM-1: G1, G2, R1: thinking comes as %s', (_form, thinking) => {
  expect(read(stream(thinking, says('a'), stop))).toMatchObject({ reasoning: 'hm', content: 'a' });
});

test('R-LLM-1: U1: the last usage wins, wherever it stands; U2: with what came from a cache', () => {
  const usage = (input: number, more: object = {}) => ({ prompt_tokens: input, completion_tokens: 2, ...more });
  const used = (...events: string[]) => read(stream(says('a'), ...events)).usage;
  const alone = (value: object) => `data: ${JSON.stringify(value)}`;
  const wanted = { input: 9, output: 2, cached: 0, thinking: 0 };
  expect(used(chunk({}, 'stop', { usage: usage(1) }), alone({ choices: [], usage: usage(9) }), DONE)).toEqual(wanted);
  expect(used(chunk({}, 'stop', { usage: usage(9) }), alone({ choices: [], usage: null }), DONE)).toEqual(wanted);
  expect(used(alone({ choices: [{ delta: {}, finish_reason: 'stop', usage: usage(9) }] }))).toEqual(wanted);
  expect(used(stop, alone({ x_groq: { usage: usage(9) } }))).toEqual(wanted);
  expect(used(stop)).toBeNull();
  const cached = (more: object) => used(chunk({}, 'stop', { usage: usage(9, more) }))?.cached;
  expect(cached({ prompt_tokens_details: { cached_tokens: 4 }, prompt_cache_hit_tokens: 1 })).toBe(4);
  expect(cached({ prompt_cache_hit_tokens: 5 })).toBe(5);
  expect(cached({ cached_tokens: 6 })).toBe(6);
});
