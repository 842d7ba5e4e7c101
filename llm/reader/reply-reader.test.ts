import { expect, test } from 'vitest';
import { ModelError } from '../../core/model.ts';
import type { Reply } from '../reply.ts';
import { ReplyReader } from './reply-reader.ts';

function pieces(bytes: Uint8Array, borders: readonly number[]): Uint8Array[] {
  return [0, ...borders].map((from, at) => bytes.subarray(from, borders[at] ?? bytes.length));
}

function read(raw: string, tools: readonly string[], borders: readonly number[]) {
  const said = { text: '', thinking: '' };
  const reader = new ReplyReader({
    offered: new Set(tools),
    onDelta: (delta) => {
      if (delta.kind !== 'alive') said[delta.kind] += delta.text;
    },
  });
  let reply: Reply | undefined;
  let kind: string | undefined;
  try {
    for (const piece of pieces(new TextEncoder().encode(raw), borders)) reader.push(piece);
    reply = reader.end();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    kind = error.kind;
  }
  if (reply) expect([reply.content, reply.reasoning]).toEqual([said.text, said.thinking]);
  return { said, reply, kind, received: reader.received() };
}

const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const delta = (value: object, finish: string | null = null) =>
  event({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
const call = (value: object, fn: object) => delta({ tool_calls: [{ ...value, function: fn }] });

function readWhole(raw: string, tools: string[] = []) {
  return read(raw, tools, []);
}

test('R-LLM-1: fields may end in CR alone, after a BOM, with several data lines in one event', () => {
  const json = JSON.stringify({ choices: [{ delta: { content: 'hi' }, finish_reason: 'stop' }] }, null, 1);
  const lines = json.split('\n').map((line) => `data:${line}`);
  expect(readWhole(`\uFEFF: hello\r\r${lines.join('\r')}\r\rdata: [DONE]\r\r`).reply?.content).toBe('hi');
});

test('R-LLM-1: events without blank lines between them are read one by one', () => {
  const chunk = (text: string) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n`;
  expect(readWhole(`${chunk('a')}${chunk('b')}data: [DONE]\n`).reply?.content).toBe('ab');
});

test('R-LLM-1: an event that is no JSON is an error, unless it is the last', () => {
  expect(readWhole(`${event('{"choices":')}${delta({ content: 'x' }, 'stop')}`).kind).toBe('bad_event');
  expect(readWhole(`${delta({ content: 'x' }, 'stop')}data: {"choi`).reply?.content).toBe('x');
});

test('R-LLM-1: a body that is no event stream is told with its title, an empty one as empty', () => {
  expect(readWhole('<!doctype html><html><title>Log in</title></html>').kind).toBe('not_sse');
  expect(readWhole('').kind).toBe('empty');
  expect(readWhole('{"id":"x","choi').kind).toBe('incomplete');
  expect(readWhole('{"detail":"Not authenticated: invalid api key"}').kind).toBe('auth');
});

test('R-LLM-1: content may be an array, a refusal is content, thinking parts are reasoning', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'yes' },
  ];
  const { reply } = readWhole(delta({ content: parts }) + delta({ refusal: ', no' }, 'stop'));
  expect(reply).toMatchObject({ content: 'yes, no', reasoning: 'hm' });
});

test('R-LLM-1: usage is taken from the choice, from x_groq, and with cached and thinking tokens', () => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 2,
    prompt_cache_hit_tokens: 3,
    completion_tokens_details: { reasoning_tokens: 1 },
  };
  const wanted = { input: 5, output: 2, cached: 3, thinking: 1 };
  expect(
    readWhole(event({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop', usage }] })).reply?.usage,
  ).toEqual(wanted);
  expect(readWhole(delta({ content: 'x' }, 'stop') + event({ x_groq: { usage } })).reply?.usage).toEqual(wanted);
});

test('R-LLM-1: a late id and a late name join their call', () => {
  const raw =
    call({ index: 0 }, { arguments: '{"a"' }) +
    call({ index: 0, id: 'late' }, { name: 'ls', arguments: ':1}' }) +
    delta({}, 'tool_calls');
  expect(readWhole(raw).reply?.calls).toMatchObject([{ id: 'late', name: 'ls', input: { a: 1 } }]);
});

test('R-LLM-1: interleaved calls go by index, a repeated id belongs to its older call', () => {
  const raw =
    call({ index: 3, id: 'a' }, { name: 'x', arguments: '{"v":' }) +
    call({ index: 7, id: 'b' }, { name: 'y', arguments: '{"v":' }) +
    call({ index: 3 }, { arguments: '1}' }) +
    call({ index: 3, id: 'b' }, { arguments: '2}' }) +
    delta({}, 'stop');
  expect(readWhole(raw).reply?.calls).toMatchObject([
    { id: 'a', input: { v: 1 } },
    { id: 'b', input: { v: 2 } },
  ]);
});

test('R-LLM-1: parallel calls with one index and no id are told apart when the first is complete', () => {
  const raw =
    call({ index: 0 }, { name: 'x', arguments: '{}' }) +
    call({ index: 0 }, { name: 'x', arguments: '{"n":2}' }) +
    delta({}, 'stop');
  expect(readWhole(raw).reply?.calls.map((one) => one.input)).toEqual([{}, { n: 2 }]);
});

test('R-LLM-1: cumulative arguments, a {} placeholder and a JSON string all give the object', () => {
  const args = (...fragments: string[]) =>
    readWhole(
      fragments.map((piece) => call({ index: 0, id: 'k' }, { name: 'x', arguments: piece })).join('') +
        delta({}, 'stop'),
    ).reply?.calls[0]?.input;
  expect(args('{"p', '{"p":1}')).toEqual({ p: 1 });
  expect(args('{}{"p":1}')).toEqual({ p: 1 });
  expect(args(JSON.stringify('{"p":1}'))).toEqual({ p: 1 });
});

test('R-LLM-2: arguments cut by the output limit make a broken call that names the cut', () => {
  const raw =
    call({ index: 0, id: 'k' }, { name: 'write', arguments: '{"path":"x","content":"abc' }) + delta({}, 'length');
  const { reply } = readWhole(raw);
  expect(reply?.finish).toBe('length');
  expect(reply?.calls).toMatchObject([
    { name: 'write', input: {}, raw: '{"path":"x","content":"abc', broken: expect.stringContaining('output limit') },
  ]);
});

test('R-LLM-2: cut arguments under another finish, and an array, are broken too', () => {
  const one = (json: string, finish: string) =>
    readWhole(call({ index: 0, id: 'k' }, { name: 'w', arguments: json }) + delta({}, finish)).reply;
  expect(one('{"a":"b', 'stop')).toMatchObject({ finish: 'tool_calls', calls: [{ broken: expect.any(String) }] });
  expect(one('[1]', 'tool_calls')?.calls[0]?.broken).toContain('object');
  expect(one('', 'length')?.calls[0]?.broken).toContain('output limit');
  expect(one('', 'stop')?.calls[0]).toMatchObject({ input: {}, raw: '{}' });
});

test('R-LLM-2: a call without a name is dropped, beside text, beside thinking that holds a draft, and alone', () => {
  const nameless = call({ index: 0, id: 'k' }, { arguments: '{}' }) + delta({}, 'tool_calls');
  const draft = 'Hm <tool_call>{"name":"read_file","arguments":{}}</tool_call>';
  for (const before of ['', delta({ content: 'Hi' }), delta({ reasoning_content: draft })]) {
    const { reply } = readWhole(before + nameless);
    expect(reply).toMatchObject({ calls: [], finish: 'stop', dropped: [{ reason: 'nameless' }] });
  }
});

test('R-LLM-2: an empty place for a call is no call', () => {
  const { reply } = readWhole(delta({ content: 'Hi' }) + call({ index: 0 }, {}) + delta({}, 'stop'));
  expect(reply).toMatchObject({ content: 'Hi', calls: [], dropped: [] });
});

test('R-LLM-1: a 10 MB line in small chunks is read in linear time', () => {
  const raw = delta({ content: 'x'.repeat(10_000_000) }, 'stop');
  const started = performance.now();
  const borders = Array.from({ length: Math.floor(raw.length / 1000) }, (_, at) => (at + 1) * 1000);
  expect(read(raw, [], borders).reply?.content.length).toBe(10_000_000);
  expect(performance.now() - started).toBeLessThan(3000);
});
