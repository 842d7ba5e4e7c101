import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { type Asked, refuse, say, upstream } from '../../test/helpers/bare-upstream.ts';
import { startModelServer } from '../../testing/model-server.ts';
import type { CheckName } from './check.ts';
import { checkModel } from './check-model.ts';

const look = (baseURL: string, model = 'm', apiKey = '') =>
  checkModel({
    upstream: { baseURL, apiKey },
    model,
    log: silentLog(),
    signal: new AbortController().signal,
  });

/** A provider without a list of models. */
async function provider(answer: (body: Asked, response: ServerResponse) => void) {
  const { url } = await upstream((request, response) => {
    if (request.method === 'GET') return void refuse(response, 404, 'no list here');
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => answer(JSON.parse(Buffer.concat(parts).toString()), response));
  });
  return url;
}

const verdicts = (checks: Awaited<ReturnType<typeof look>>['checks']) =>
  Object.fromEntries(checks.map(({ name, verdict }) => [name, verdict])) as Record<CheckName, string>;

const call = (...cities: string[]) => ({
  calls: cities.map((city) => ({ name: 'get_weather', arguments: { city } })),
});
const able = [
  { text: 'one two three four five six seven eight nine ten '.repeat(4), thinking: 'hm', pace_ms: 5 },
  ...[call('Paris'), call('Paris'), 'It is 21 degrees.', call('Paris', 'London'), 'Red.'],
];

test('R-LLM-70: a model that can do everything is told to, and steers nothing', async () => {
  const server = await startModelServer({ script: { doctor: able } });
  onTestFinished(() => server.close());
  const { checks, usable, dialects, host } = await look(server.url, 'scripted');
  expect(new Set(Object.values(verdicts(checks)))).toEqual(new Set(['yes']));
  expect(usable).toBe(true);
  expect(dialects).toEqual({ [`${host}/v1 scripted`]: {} });
});

test('R-LLM-70: calls that come as text, one at a time, are told, and so is what a reply does not tell', async () => {
  const url = await provider(({ messages, tools }, response) => {
    if (!tools) return say(response, '1 2 3');
    if (messages.at(-1)?.role === 'tool') return say(response, 'It is 21 degrees there.');
    say(response, '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>');
  });
  const { checks, usable } = await look(url);
  expect(verdicts(checks)).toEqual({
    ...{ key: 'yes', name: 'yes', answer: 'yes', streaming: 'no', tools: 'partly', results: 'yes' },
    ...{ parallel: 'no', vision: 'no', usage: 'no', thinking: 'no' },
  });
  expect(usable).toBe(true);
});

test.each([
  ['refuses tools', ({ tools }: Asked) => tools !== undefined],
  ['leaves them alone', () => false],
])('R-LLM-70: an endpoint that %s is asked by text from then on', async (_, refuses) => {
  const url = await provider((body, response) => {
    if (refuses(body)) return refuse(response, 400, 'tools are not supported by this model');
    const text = JSON.stringify(body.messages);
    if (text.includes('21')) return say(response, '21');
    const asked = text.includes('## get_weather') && text.includes('Call get_weather');
    say(response, asked ? '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>' : 'I cannot.');
  });
  const { checks, usable, dialects } = await look(url);
  expect(verdicts(checks)).toMatchObject({ tools: 'partly', results: 'yes' });
  expect(usable).toBe(true);
  expect(Object.values(dialects)).toEqual([{ tools: 'text' }]);
});

test.each([
  ['a rejected key', 401, 'invalid api key', 'key'],
  ['an unknown model', 404, 'the model m does not exist', 'name'],
  ['a provider that fails', 500, 'broken', 'answer'],
] as const)('R-LLM-70: %s is told as such, and nothing is kept of it', async (_, status, message, name) => {
  const url = await provider((_body, response) => refuse(response, status, message));
  const { checks, usable, dialects } = await look(url, 'm', 'a-key-that-is-one');
  expect(verdicts(checks)).toMatchObject({ [name]: 'no', tools: 'unknown', vision: 'unknown' });
  expect(checks.find((check) => check.name === name)?.note).toContain(message);
  expect({ usable, dialects }).toEqual({ usable: false, dialects: {} });
});

test('R-LLM-70: a name that is not listed is told with those that look like it', async () => {
  const server = await startModelServer({ script: { doctor: able }, faults: [] });
  onTestFinished(() => server.close());
  const { checks } = await look(server.url, 'Scripted-');
  expect(checks.find(({ name }) => name === 'name')).toMatchObject({ verdict: 'yes' });
});
