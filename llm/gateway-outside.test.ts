import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ModelError } from '../core/model.ts';
import { hello, modelOver, upstream } from '../test/helpers/bare-upstream.ts';
import { asking, gatewayBench } from '../test/helpers/gateway-bench.ts';

const messages = [{ role: 'user' as const, content: 'go' }];
const write = { name: 'write', arguments: { path: 'a', content: 'hello' } };

/** A coding program of somebody else: the OpenAI client with nothing of ours. */
async function program(...bench: Parameters<typeof gatewayBench>) {
  const parts = await gatewayBench(...bench);
  const { token } = await parts.agent('coder-1', 'run.code');
  return { ...parts, token, client: new OpenAI({ baseURL: parts.gateway.url, apiKey: token, maxRetries: 2 }) };
}

test('R-LLM-12: a program streams a reply with thinking, calls and usage, and is counted', async () => {
  const usage = { input: 9, output: 4 };
  const { client, gateway } = await program({ coder: [{ text: 'working', thinking: 'hm', calls: [write], usage }] });
  const stream = await client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  const call = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])[0];
  expect(text).toBe('working');
  expect(call?.function).toEqual({ name: 'write', arguments: JSON.stringify(write.arguments) });
  expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['tool_calls']);
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
  expect(gateway.usage().rows).toMatchObject([{ agent: 'coder-1', taskId: 'run.code', model: 'big', input: 9 }]);
});

test('R-LLM-12: a program that does not stream gets the whole reply, turn after turn', async () => {
  const { client, server } = await program({ coder: ['first', 'second'] });
  for (const content of ['first', 'second']) {
    const reply = await client.chat.completions.create({ model: 'default', messages });
    expect(reply.choices[0]?.message.content).toBe(content);
  }
  expect(server.requests.map(({ step, stream }) => [step, stream])).toEqual([
    [0, true],
    [1, true],
  ]);
});

test('R-LLM-12: a reply that broke in the middle is begun anew without the program seeing the half', async () => {
  const text = 'a long text of several deltas, cut in the middle once';
  const { client } = await program({ coder: [{ text, fault: { type: 'cut', after: 2 } }] });
  const stream = await client.chat.completions.create({ model: 'default', messages, stream: true });
  let seen = '';
  for await (const chunk of stream) seen += chunk.choices[0]?.delta.content ?? '';
  expect(seen).toBe(text);
});

test('R-LLM-12: while the gateway tries again, a program hears that the stream is alive', async () => {
  const { gateway, token } = await program({ coder: [{ text: 'x', delay_ms: 250 }] }, { keepAliveMs: 40 });
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'default', messages, stream: true }),
  });
  const text = await response.text();
  expect(text).toContain(': alive\n');
  expect(text).toContain('data: [DONE]');
});

test('R-LLM-2: a cut call is not handed to a program that might complete it by guess', async () => {
  const { client } = await program({ coder: [{ text: 'so', calls: [write], fault: { type: 'cut_arguments' } }] });
  const reply = await client.chat.completions.create({ model: 'default', messages });
  expect(reply.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'so' } });
  expect(reply.choices[0]?.message.tool_calls).toBeUndefined();
});

test('R-LLM-12: a program gets an error with status and words, and does not try again what the gateway tried', async () => {
  const { client, server } = await program({
    coder: [{ fault: { type: 'status', status: 500, times: 'always' } }],
  });
  const error = await client.chat.completions.create({ model: 'default', messages, stream: true }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ status: 502, code: 'server', message: expect.stringContaining('OPENAI_BASE_URL') });
  expect(server.requests).toHaveLength(3);
});

test('R-LLM-12: the model list names the choices, a wrong body and a wrong path are told', async () => {
  const { client, gateway, token } = await program({ coder: ['x'] });
  const names = (await client.models.list()).data.map((model) => model.id);
  expect(names).toEqual(['default', 'flash', 'review', 'vision', 'big', 'small']);
  const post = (path: string, body: string) =>
    fetch(`${gateway.url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body });
  expect((await post('/chat/completions', '{"messages":[]}')).status).toBe(400);
  expect((await post('/chat/completions', 'no json')).status).toBe(400);
  expect((await post('/responses', '{}')).status).toBe(404);
});

test('R-LLM-6: a fallback gets its own key, and nobody gets headers from the environment', async () => {
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-vendor-secret: abc');
  vi.stubEnv('OPENAI_ORG_ID', 'org-1');
  vi.stubEnv('OPENAI_API_KEY', 'key-of-the-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  const first = await upstream((_, response) => void response.writeHead(503).end('down'));
  const second = await upstream(hello);
  const ask = await modelOver({
    upstream: { baseURL: first.url, apiKey: 'key-of-the-first' },
    fallbacks: [{ baseURL: second.url, apiKey: 'key-of-the-second' }],
  });
  expect((await ask()).content).toBe('hello');
  expect(first.seen.map((headers) => headers.authorization)).toEqual(['Bearer key-of-the-first']);
  expect(second.seen.map((headers) => headers.authorization)).toEqual(['Bearer key-of-the-second']);
  for (const headers of [...first.seen, ...second.seen]) {
    expect(Object.keys(headers).filter((name) => /vendor|organization|stainless/.test(name))).toEqual([]);
  }
});

test('R-LLM-6: a key does not follow a redirect; the message names the new address', async () => {
  const other = await upstream(hello);
  const moved = await upstream((_, response) => void response.writeHead(307, { location: other.url }).end());
  const ask = await modelOver({ upstream: { baseURL: moved.url, apiKey: 'key-of-the-first' } });
  await expect(ask()).rejects.toThrow(`redirects to ${other.url}`);
  expect(other.seen).toHaveLength(0);
});

test('R-LLM-11: role and step are told to a server on this machine only; without a key no authorization is sent', async () => {
  const local = await upstream(hello);
  await (await modelOver({ upstream: { baseURL: local.url, apiKey: '' } }))();
  expect(local.seen[0]).toMatchObject({ 'x-npc-role': 'coder', 'x-npc-step': '0' });
  expect(local.seen[0]).not.toHaveProperty('authorization');
  // reached like another machine, by an address that is not a loopback one
  const remote = await upstream(hello, '0.0.0.0');
  await (await modelOver({ upstream: { baseURL: remote.url, apiKey: 'k' } }))();
  expect(Object.keys(remote.seen[0] ?? {}).filter((name) => name.startsWith('x-npc'))).toEqual([]);
});

test('R-LLM-1: a refused field is left out and the request sent again at once', async () => {
  let refused = 0;
  const { url, seen } = await upstream((_, response) => {
    refused += 1;
    if (refused > 1) return hello(_, response);
    response.writeHead(400).end('{"error":{"message":"Unrecognized request argument: stream_options"}}');
  });
  const ask = await modelOver({ upstream: { baseURL: url, apiKey: '' } });
  expect((await ask()).content).toBe('hello');
  expect(seen).toHaveLength(2);
});

test('R-LLM-13: an upstream that is not there is told with its address and the setting', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const ask = await modelOver({ upstream: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: '' } });
  const error: ModelError = await ask().then(
    () => Promise.reject(new Error('it answered')),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ kind: 'server', retryable: true });
  expect(error.message).toMatch(/127\.0\.0\.1:\d+ .*ECONNREFUSED.*OPENAI_BASE_URL/);
});

test('R-LLM-13: a missing key and a base URL that is none are told with their setting', async () => {
  const { url } = await upstream((_, response) => void response.writeHead(401).end('{"error":{"message":"no key"}}'));
  const ask = await modelOver({ upstream: { baseURL: url, apiKey: '' } });
  await expect(ask()).rejects.toThrow(/wants a key .* OPENAI_API_KEY is not set/);
  const misconfigured = { code: 'misconfigured' };
  await expect(modelOver({ upstream: { baseURL: 'api.example/v1', apiKey: '' } })).rejects.toMatchObject(misconfigured);
  const twoKeys = modelOver({ upstream: { baseURL: url, apiKey: 'one\ntwo' } });
  await expect(twoKeys).rejects.toMatchObject({ ...misconfigured, message: expect.not.stringContaining('two') });
});

test('R-LLM-5: keep-alive comments keep a stream open only for so long', async () => {
  const { url } = await upstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(': still here\n\n'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const ask = await modelOver({ upstream: { baseURL: url, apiKey: '' }, timeouts: { idleMs: 5000, progressMs: 200 } });
  await expect(ask()).rejects.toMatchObject({ kind: 'stalled', message: expect.stringContaining('keep-alives') });
});

test('R-LLM-4: a spent budget stops retries too', async () => {
  const { agent, signal, server } = await gatewayBench(
    { coder: [{ text: 'many words '.repeat(50), fault: { type: 'cut', after: 20, times: 'always' } }] },
    { budget: { tokens: 50 } },
  );
  const { model } = await agent('coder-1', 'run.code');
  await expect(model.reply(asking(), signal)).rejects.toMatchObject({ kind: 'budget' });
  expect(server.requests).toHaveLength(1);
});
