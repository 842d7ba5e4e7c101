import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { replayingBench } from '../../test/helpers/cassette.ts';
import { asking, gatewayBench } from '../../test/helpers/gateway-bench.ts';
import { tempFolder } from '../../test/helpers/temp-repository.ts';
import { bothTapes, openRecorder, openResponseCache } from '../index.ts';

const parts = { program: 'npc-crew test', secrets: ['swordfish-9931'], log: silentLog(), onFailure: () => {} };

/** A bench whose gateway has the cache in this file. */
async function cachingBench(path: string, ...[script, options]: Parameters<typeof gatewayBench>) {
  const cache = await openResponseCache({ ...parts, path });
  const bench = await gatewayBench(script, { ...options, tape: cache });
  onTestFinished(() => cache.close());
  const done = async () => {
    await bench.gateway.close();
    await cache.close();
  };
  return { ...bench, cache, done };
}

test('R-LLM-87: a request that was answered before is answered from the file, costs nothing, and says so', async () => {
  const path = join(await tempFolder(), 'cache.jsonl');
  const usage = { input: 9, output: 4 };
  const first = await cachingBench(path, { coder: [{ text: 'one', usage }] });
  const asked = await (await first.agent('coder-1', 'run.code')).model.reply(asking(), first.signal);
  await first.done();

  const second = await cachingBench(path, { reviewer: ['never', { text: 'two', usage }] });
  const { model } = await second.agent('reviewer-1', 'other.review');
  const again = await model.reply(asking(), second.signal);
  expect(again).toEqual(asked);
  const turns = [{ role: 'user' as const, content: 'something else' }];
  expect((await model.reply(asking(1, { turns }), second.signal)).content).toBe('two');
  expect(second.server.requests).toHaveLength(1);
  expect(second.records.map(({ event }) => event)).toMatchObject([
    { ok: true, usage: null, cached_reply: true },
    { ok: true, usage },
  ]);
  expect(second.records[0]?.event).not.toHaveProperty('estimate');
  expect(second.gateway.usage()).toMatchObject({ calls: 2, paid: 1, tokens: 13, unpriced: 1 });
});

test('R-LLM-87: replies that failed, were cut, or hold a secret are asked for again', async () => {
  const path = join(await tempFolder(), 'cache.jsonl');
  const { agent, server, signal, gateway, cache } = await cachingBench(path, {
    coder: [
      { text: 'cut', finish: 'length' },
      { text: 'the key is swordfish-9931' },
      { text: 'late', fault: { type: 'cut', after: 1, times: 1 } },
      'not asked for',
    ],
  });
  const { model } = await agent('coder-1', 'run.code');
  const texts = [];
  for (const turn of [0, 1, 2, 3]) texts.push((await model.reply(asking(turn), signal)).content);
  expect(texts).toEqual(['cut', 'the key is swordfish-9931', 'late', 'late']);
  expect(server.requests.map(({ step }) => step)).toEqual([0, 1, 2, 2]);
  await gateway.close();
  await cache.close();
});

test('R-LLM-87: what came from the cache is in a recording too, and costs nothing in its replay', async () => {
  const folder = await tempFolder();
  const cache = await openResponseCache({ ...parts, path: join(folder, 'cache.jsonl') });
  const path = join(folder, 'run.jsonl');
  const recorder = await openRecorder({ ...parts, path, names: { run: 'run' } });
  const tape = bothTapes(recorder, cache);
  const ask = async ({ agent, signal }: Pick<Awaited<ReturnType<typeof gatewayBench>>, 'agent' | 'signal'>) => {
    const { model } = await agent('coder-1', 'run.code');
    for (const turn of [0, 1]) await model.reply(asking(turn), signal);
  };
  const bench = await gatewayBench({ coder: ['one'] }, tape ? { tape } : {});
  await ask(bench);
  await bench.gateway.close();
  await tape?.close();
  const replay = await replayingBench(path);
  await ask(replay);
  const paid = ({ records }: typeof replay) => records.map(({ event }) => event.cached_reply ?? false);
  expect(paid(replay)).toEqual([false, true]);
  expect(replay.gateway.usage().paid).toBe(1);
});

test('R-LLM-87: a file that is no cache is refused, not overwritten', async () => {
  const path = join(await tempFolder(), 'notes');
  await writeFile(path, 'mine\n');
  await expect(openResponseCache({ ...parts, path })).rejects.toThrow(/it is no recording/);
});
