import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { gatewayOver, upstream } from '../../test/helpers/bare-upstream.ts';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}\n\n`;

/** A provider that writes these and then leaves the stream open. */
async function openEnded(...events: (string | number)[]) {
  const { url, seen } = await upstream(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // a number is a pause, ms
    for (const event of events) {
      if (typeof event === 'number') await delay(event);
      else response.write(event);
    }
  });
  const { ask } = await gatewayOver({
    upstream: { baseURL: url, apiKey: '' },
    timeouts: { firstByteMs: 10_000, idleMs: 300, afterFinishMs: 100 },
  });
  return { ask, seen };
}

test('R-LLM-71: a finished reply whose stream stays open is taken as it is, with its usage, and asked for once', async () => {
  const { ask, seen } = await openEnded(chunk({ content: 'all of it' }), chunk({}, 'stop'), usage);
  expect(await ask()).toMatchObject({ content: 'all of it', finish: 'stop', usage: { input: 7, output: 3 } });
  expect(seen).toHaveLength(1);
});

test('R-LLM-71: one that is not finished is stalled, and a call in it is none', async () => {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'ls', arguments: '{"path":' } };
  const { ask } = await openEnded(chunk({ tool_calls: [call] }));
  await expect(ask()).rejects.toMatchObject({ kind: 'stalled' });
});

test('R-LLM-71: a finish with every chunk tells nothing: what comes after a pause belongs to the reply', async () => {
  const said = ['one ', 'two ', 'three'].map((content) => chunk({ content }, 'stop'));
  const { ask } = await openEnded(said[0] ?? '', 200, said[1] ?? '', 200, said[2] ?? '', 'data: [DONE]\n\n');
  expect((await ask()).content).toBe('one two three');
});

test('R-LLM-71: a call whose arguments come after a finish is not run by its placeholder', async () => {
  const part = (args: string) => ({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'ls', arguments: args } }] });
  const { ask } = await openEnded(
    ...[chunk({ content: 'So.' }), chunk({}, 'tool_calls'), 50, chunk(part('{"path":"a"}')), 200],
    'data: [DONE]\n\n',
  );
  expect((await ask()).calls).toMatchObject([{ input: { path: 'a' } }]);
});

test('R-LLM-71: a finished reply counts however short the patience with a silent one is', async () => {
  const { url, seen } = await upstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'all' }) + chunk({}, 'stop'));
  });
  const { ask } = await gatewayOver({
    upstream: { baseURL: url, apiKey: '' },
    retry: { attempts: 2, baseMs: 1 },
    timeouts: { idleMs: 100, afterFinishMs: 300 },
  });
  expect((await ask()).content).toBe('all');
  expect(seen).toHaveLength(1);
});
