import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ModelError } from '../core/model.ts';
import { asking, gatewayBench } from '../test/helpers/gateway-bench.ts';
import type { UsageEvent } from './index.ts';

interface Body {
  readonly messages: { role: string; content: string | null }[];
  readonly max_tokens?: number;
}

interface Said {
  readonly content: string;
  readonly finish?: string;
  /** Structured calls, as deltas. */
  readonly calls?: readonly object[];
}

/** A provider that says these replies one after the other, the last one for ever, and keeps what it was asked. */
async function provider(replies: readonly Said[]) {
  const asked: Body[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    asked.push(JSON.parse(Buffer.concat(parts).toString()));
    const { content, finish = 'stop', calls } = replies[Math.min(asked.length, replies.length) - 1] ?? { content: '' };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of content.match(/[\s\S]{1,7}/g) ?? []) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece } }] })}\n\n`);
    }
    const last = calls ? { tool_calls: calls } : {};
    response.end(`data: ${JSON.stringify({ choices: [{ delta: last, finish_reason: finish }] })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { asked, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const tools = [
  { name: 'read', description: '', parameters: { type: 'object', properties: { lines: { type: 'integer' } } } },
  { name: 'ls', description: '', parameters: { type: 'object' } },
];

async function bench(...replies: Said[]) {
  const { asked, baseURL } = await provider(replies);
  const { agent, signal, records, gateway } = await gatewayBench({}, { upstream: { baseURL, apiKey: '' } });
  const { model } = await agent('coder-1', 'run.code');
  const shown: string[] = [];
  const events = () => records.map(({ event }) => event) as UsageEvent[];
  const ask = async () =>
    await model.reply(asking(0, { tools }), signal, (delta) => {
      if (delta.kind === 'text') shown.push(delta.text);
    });
  return { ask, asked, events, shown: () => shown.join(''), gateway };
}

const call = '<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>';
const cut = '<tool_call>{"name":"read","arguments":{"pa';

test('R-LLM-63: a call in the text reaches the agent as a rescued call, with typed values, and is counted', async () => {
  const tag = '<tool_call><function=read><parameter=lines>\n5\n</parameter></function></tool_call>';
  const { ask, events, shown, gateway } = await bench({ content: `<think>hm</think>I read.\n${tag}` });
  const reply = await ask();
  expect(reply).toMatchObject({ content: 'I read.\n', reasoning: 'hm', finish: 'tool_calls' });
  expect(reply.calls).toEqual([
    { id: expect.stringMatching(/^call_/), name: 'read', input: { lines: 5 }, origin: 'rescued' },
  ]);
  expect(shown()).toBe('I read.\n');
  expect(events()[0]).toMatchObject({ ok: true, rescued: { 'qwen3-coder': 1 } });
  expect(gateway.usage().rows).toMatchObject([{ model: 'big', rescued: { 'qwen3-coder': 1 }, dropped: {} }]);
});

test('R-LLM-64: a call that was cut is asked for again; its text is kept, and no half call is in the history', async () => {
  const { ask, asked, events, shown } = await bench({ content: `I read.\n${cut}` }, { content: `So.\n${call}` });
  const reply = await ask();
  expect(reply).toMatchObject({ content: 'I read.\n\nSo.\n', calls: [{ name: 'read', origin: 'rescued' }] });
  expect(shown().startsWith('I read.\n')).toBe(true);
  expect(shown().endsWith('I read.\n\nSo.\n')).toBe(true);
  const added = asked[1]?.messages.slice(asked[0]?.messages.length);
  expect(added).toEqual([
    { role: 'assistant', content: 'I read.\n' },
    {
      role: 'user',
      content: expect.stringMatching(/^Your last tool call was not executed: the call of "read" was cut off/),
    },
  ]);
  expect(events().map(({ rescued, dropped }) => [rescued, dropped])).toEqual([
    [undefined, { hermes: 1 }],
    [{ hermes: 1 }, undefined],
  ]);
});

test('R-LLM-64: a structured call without a name is asked for again; beside one that can run it is a broken call', async () => {
  const nameless = { index: 0, id: 'x', function: { arguments: '{"path":"a"}' } };
  const whole = { index: 1, id: 'y', function: { name: 'read', arguments: '{}' } };
  const { ask, asked, events } = await bench(
    { content: 'So.', calls: [nameless] },
    { content: '', calls: [nameless, whole] },
  );
  const { content, calls } = await ask();
  expect(content).toBe('So.');
  expect(calls).toMatchObject([
    { id: 'y', name: 'read' },
    { broken: 'it names no tool', origin: 'native' },
  ]);
  expect(asked[1]?.messages.at(-1)?.content).toBe(
    'Your last tool call was not executed: the call names no tool. The tools are: read, ls. Send it again, whole, as a tool call.',
  );
  expect(events().map(({ dropped }) => dropped)).toEqual([{ structured: 1 }, { structured: 1 }]);
});

test('R-LLM-64: the note names the tools when the one that was called is none of them', async () => {
  const { ask, asked } = await bench({ content: call.replace('read', 'Read') }, { content: call });
  expect((await ask()).calls).toHaveLength(1);
  expect(asked[1]?.messages.at(-1)?.content).toMatch(
    /there is no tool "Read"\. The tools are: read, ls\. Send it again/,
  );
});

test('R-LLM-64: after two more tries it is an error that says so, and no marker is the answer', async () => {
  const { ask, asked, shown } = await bench({ content: cut });
  const error = await ask().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({ kind: 'incomplete', retryable: false });
  expect((error as ModelError).message).toMatch(/cannot be used.*3 times in a row/);
  expect(asked).toHaveLength(3);
  expect(shown()).toBe('');
});

test('R-LLM-64: beside a call that can run, one that cannot is a broken call, which the model reads about', async () => {
  const { ask, asked } = await bench({ content: `${call}${cut}` });
  const { calls } = await ask();
  expect(calls).toMatchObject([
    { name: 'read', input: { path: 'a' }, origin: 'rescued' },
    { name: 'read', input: {}, origin: 'rescued', broken: 'it was cut off' },
  ]);
  expect(calls[0]).not.toHaveProperty('broken');
  expect(asked).toHaveLength(1);
});

test('R-LLM-65: the gateway’s metrics count calls that came as text by model and format, and what was used', async () => {
  const { agent, gateway, signal } = await gatewayBench({
    coder: ['<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>'],
  });
  const { model } = await agent('coder-1', 'run.code');
  const tools = [{ name: 'bash', description: '', parameters: {} }];
  await model.reply(asking(0, { tools }), signal);
  const text = await (await fetch(new URL('/metrics', gateway.url))).text();
  expect(text).toContain('npc_model_rescued_calls_total{model="big",format="hermes"} 1');
  expect(text).toContain('npc_model_calls_total{model="big",role="coder",outcome="reply"} 1');
  expect(text).toMatch(/npc_model_tokens_total\{model="big",role="coder",kind="output"\} \d+/);
});
