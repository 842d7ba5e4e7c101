import { expect, test } from 'vitest';
import { gatewayOver, upstream } from '../../test/helpers/bare-upstream.ts';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}\n\n`;

/** A provider that writes these and then leaves the stream open. */
async function openEnded(...events: string[]) {
  const { url, seen } = await upstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(event);
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
