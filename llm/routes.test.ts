import { expect, test } from 'vitest';
import { gatewayOver, hello, provider, refuse, say, upstream } from '../test/helpers/bare-upstream.ts';

const down = (names: readonly string[]) =>
  provider(({ model }, response) => (names.includes(model) ? refuse(response, 500, 'broken') : say(response, model)));

test('R-LLM-20: fallback models are asked in order, at the same endpoint and with its key', async () => {
  const { asked, seen, url } = await down(['big', 'second']);
  const notices: string[] = [];
  const { ask } = await gatewayOver({
    upstream: { baseURL: url, apiKey: 'key-of-the-first' },
    fallbackModels: ['second', 'third'],
    onNotice: (line) => notices.push(line),
  });
  expect((await ask()).content).toBe('third');
  expect(asked.map(({ model }) => model)).toEqual(['big', 'second', 'third']);
  expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer key-of-the-first']));
  expect(notices.find((line) => line.startsWith('coder-1'))).toMatch(
    /coder-1: .*500.*Asking second at 127\.0\.0\.1:\d+ instead/,
  );
});

test('R-LLM-20: a route that failed is passed over until it has cooled down, and then tried again', async () => {
  let broken = true;
  const first = await provider((_, response) => (broken ? refuse(response, 500, 'broken') : say(response, 'first')));
  const second = await upstream(hello);
  const { ask } = await gatewayOver({
    upstream: { baseURL: first.url, apiKey: 'a-key-of-one' },
    fallbacks: [{ baseURL: second.url, apiKey: 'a-key-of-two' }],
    cooldown: { cooldownMs: 300 },
  });
  for (const _ of [1, 2, 3]) expect((await ask()).content).toBe('hello');
  expect([first.seen.length, second.seen.length]).toEqual([1, 3]);
  broken = false;
  await expect.poll(async () => (await ask()).content, { interval: 60 }).toBe('first');
});

test('R-LLM-20: a rejected key keeps all models of an endpoint out, a failing model only itself', async () => {
  const second = await upstream(hello);
  const over = async (status: number) => {
    const first = await provider(({ model }, response) =>
      model === 'big' ? refuse(response, status, 'no') : say(response, model),
    );
    const { ask } = await gatewayOver({
      upstream: { baseURL: first.url, apiKey: 'a-key-of-one' },
      models: { default: 'big', flash: 'small' },
      fallbacks: [{ baseURL: second.url, apiKey: 'a-key-of-two', models: { default: 'other' } }],
    });
    await ask();
    return (await ask({ choice: 'flash' })).content;
  };
  expect(await over(401)).toBe('hello');
  expect(await over(503)).toBe('small');
});

test('R-LLM-20: a long wait is not waited for while there is another route', async () => {
  const first = await provider((_, response) => refuse(response, 429, 'slow down', { 'retry-after': '60' }));
  const second = await upstream(hello);
  const { ask } = await gatewayOver({
    upstream: { baseURL: first.url, apiKey: 'a-key-of-one' },
    fallbacks: [{ baseURL: second.url, apiKey: 'a-key-of-two' }],
    retry: { attempts: 5 },
  });
  expect((await ask()).content).toBe('hello');
  expect(first.asked).toHaveLength(1);
});

test('R-LLM-20: when all fail, the first failure is told, with the others named', async () => {
  const first = await provider((_, response) => refuse(response, 404, 'The model `big` does not exist'));
  const second = await provider((_, response) => refuse(response, 401, 'no key'));
  const { ask } = await gatewayOver({
    upstream: { baseURL: first.url, apiKey: 'a-key-of-one' },
    fallbacks: [
      {
        ...{ baseURL: second.url, apiKey: '' },
        settings: { key: 'NPC_FALLBACK_API_KEY', url: 'NPC_FALLBACK_BASE_URL', model: 'NPC_FALLBACK_MODEL' },
      },
    ],
  });
  const error: unknown = await ask().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'misconfigured', retryable: false });
  expect(String(error)).toMatch(
    /does not know the model "big".*NPC_MODEL.*failed too: big at 127\.0\.0\.1:\d+ \(auth\)/,
  );
  expect(second.seen[0]).not.toHaveProperty('authorization');
});

test('R-LLM-20: what another provider would refuse as well goes to no other', async () => {
  const first = await provider((_, response) => refuse(response, 400, 'prompt is too long'));
  const second = await upstream(hello);
  const { ask } = await gatewayOver({
    upstream: { baseURL: first.url, apiKey: 'a-key-of-one' },
    fallbacks: [{ baseURL: second.url, apiKey: 'a-key-of-two' }],
  });
  await expect(ask()).rejects.toMatchObject({ kind: 'context_length' });
  expect(second.seen).toHaveLength(0);
});

test('R-LLM-20: fallback endpoints without models of their own follow those of the run', async () => {
  const { asked, url } = await down([]);
  const first = await provider((_, response) => refuse(response, 500, 'broken'));
  const { ask, gateway } = await gatewayOver({
    upstream: { baseURL: first.url, apiKey: '' },
    fallbacks: [{ baseURL: url, apiKey: '' }],
  });
  gateway.useModels({ default: 'named-later' });
  await ask();
  expect(asked.map(({ model }) => model)).toEqual(['named-later']);
});

test('R-LLM-17: what was learned from a refusal stays for the next call, and can be written down', async () => {
  const { asked, url } = await provider(({ stream_options }, response) =>
    stream_options ? refuse(response, 400, 'Unrecognized request argument: stream_options') : say(response, 'fine'),
  );
  const { ask, gateway } = await gatewayOver({ upstream: { baseURL: url, apiKey: '' } });
  await ask();
  await ask();
  expect(asked).toHaveLength(3);
  const dialects = JSON.parse(JSON.stringify(gateway.dialects()));
  expect(dialects).toMatchObject({ [`${new URL(url).host}/v1 big`]: { leftOut: ['stream_options'] } });
  const next = await gatewayOver({ upstream: { baseURL: url, apiKey: '' }, dialects });
  await next.ask();
  expect(asked).toHaveLength(4);
});

test('R-LLM-17: what did not help is not kept', async () => {
  const { asked, url } = await provider((_, response) => refuse(response, 400, 'stream_options, or so, is wrong'));
  const { ask, gateway } = await gatewayOver({ upstream: { baseURL: url, apiKey: '' } });
  await expect(ask()).rejects.toMatchObject({ kind: 'bad_request' });
  expect(asked).toHaveLength(2);
  expect(Object.values(gateway.dialects())).toMatchObject([{ leftOut: [] }]);
});

test('R-LLM-18: that an endpoint knows no tools is found out, or set', async () => {
  const tools = [{ name: 'ls', description: 'lists', parameters: { type: 'object' } }];
  const { asked, url } = await provider((body, response) =>
    body.tools ? refuse(response, 400, 'gemma does not support tools') : say(response, 'fine'),
  );
  const found = await gatewayOver({ upstream: { baseURL: url, apiKey: '' } });
  await found.ask({ tools });
  await found.ask({ tools });
  expect(asked.map((body) => body.tools !== undefined)).toEqual([true, false, false]);
  expect(String(asked.at(-1)?.messages[0]?.content)).toContain('## ls');
  const set = await gatewayOver({ upstream: { baseURL: url, apiKey: '', tools: 'text' } });
  await set.ask({ tools });
  expect(asked).toHaveLength(4);
});

test('R-LLM-16: A9: an id that the history has already is replaced, also across replies', async () => {
  const { url } = await provider((_, response) => {
    const call = { id: 'call_0', type: 'function', function: { name: 'ls', arguments: '{}' } };
    response.end(JSON.stringify({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }));
  });
  const { ask } = await gatewayOver({ upstream: { baseURL: url, apiKey: '' } });
  const first = await ask();
  expect(first.calls[0]?.id).toBe('call_0');
  const result = { role: 'tool' as const, call_id: 'call_0', name: 'ls', content: 'x', ok: true };
  const second = await ask({ turns: [{ role: 'user', content: 'x' }, first, result] });
  expect(second.calls[0]?.id).toMatch(/^call_[0-9a-f]{24}$/);
});

test('R-LLM-3: a 400 without a word is a prompt that is too long, if the request is a long one', async () => {
  const { url } = await upstream((_, response) => void response.writeHead(400).end());
  const { ask } = await gatewayOver({ upstream: { baseURL: url, apiKey: '' } });
  await expect(ask()).rejects.toMatchObject({ kind: 'bad_request' });
  const long = ask({ turns: [{ role: 'user', content: '很长'.repeat(40_000) }] });
  await expect(long).rejects.toMatchObject({ kind: 'context_length' });
});

test('R-LLM-18: calls of a gateway without tools are read from its text, and go back to it as text', async () => {
  const tools = [{ name: 'ls', description: 'lists', parameters: { type: 'object' } }];
  const call = '<tool_call>\n{"name": "ls", "arguments": {"path": "src"}}\n</tool_call>';
  const { asked, url } = await provider((_, response, number) => say(response, number === 1 ? `So.\n${call}` : 'done'));
  const { ask } = await gatewayOver({ upstream: { baseURL: url, apiKey: '', tools: 'text' } });
  const first = await ask({ tools });
  expect(first).toMatchObject({
    finish: 'tool_calls',
    calls: [{ name: 'ls', input: { path: 'src' }, origin: 'rescued' }],
  });
  expect(first.content).not.toContain('tool_call');
  const result = { role: 'tool' as const, call_id: first.calls[0]?.id ?? '', name: 'ls', content: 'x.ts', ok: true };
  expect((await ask({ tools, turns: [{ role: 'user', content: 'look' }, first, result] })).content).toBe('done');
  expect(asked[1]?.messages.slice(1)).toEqual([
    { role: 'user', content: 'look' },
    { role: 'assistant', content: expect.stringContaining('{"name": "ls", "arguments": {"path":"src"}}') },
    { role: 'user', content: '<tool_response name="ls">\nx.ts\n</tool_response>' },
  ]);
});
