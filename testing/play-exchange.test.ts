import { expect, onTestFinished, test } from 'vitest';
import { readCassette } from '../llm/index.ts';
import { recordingBench } from '../test/helpers/cassette.ts';
import { asking, gatewayBench } from '../test/helpers/gateway-bench.ts';
import { startModelServer } from './model-server.ts';

const faulty = [
  { text: 'one', fault: { type: 'status' as const, status: 500, times: 1 } },
  { text: 'two', fault: { type: 'cut' as const, after: 1, times: 1 } },
];

async function recorded() {
  const bench = await recordingBench({ coder: faulty, reviewer: ['fine'] });
  const coder = await bench.agent('coder-1', 'run.code');
  for (const turn of [0, 1]) await coder.model.reply(asking(turn), bench.signal);
  const reviewer = await bench.agent('reviewer-1', 'run.review');
  const turns = [{ role: 'user' as const, content: 'review it' }];
  await reviewer.model.reply(asking(0, { turns }), bench.signal);
  await bench.done();
  return readCassette(bench.path);
}

async function serve(options: Parameters<typeof startModelServer>[0]) {
  const server = await startModelServer(options);
  onTestFinished(() => server.close());
  return server;
}

test('R-FAKE-6: a cassette is played over HTTP by role, with its failures, to a gateway that knows nothing of it', async () => {
  const server = await serve({ cassette: await recorded() });
  const upstream = { baseURL: server.url, apiKey: 'none' };
  const { agent, signal, records } = await gatewayBench({}, { upstream });
  const turns = [{ role: 'user' as const, content: 'review it, but in other words' }];
  const reviewer = await agent('reviewer-1', 'other.review');
  expect((await reviewer.model.reply(asking(0, { turns }), signal)).content).toBe('fine');
  const { model } = await agent('coder-1', 'other.code');
  expect((await model.reply(asking(0), signal)).content).toBe('one');
  expect((await model.reply(asking(1), signal)).content).toBe('two');
  expect(records.map(({ event }) => event.error)).toEqual([undefined, 'server', undefined, 'incomplete', undefined]);
  const error = await model.reply(asking(2), signal).catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(
    'no reply left for the role "coder" (step 2 was asked for); it has 5 in all, 0 are left',
  );
});

test('R-FAKE-6: without a role a cassette is played by what is asked, else in order, and at its own pace when asked to', async () => {
  const cassette = await recorded();
  const slow = cassette.exchanges.map((one) => ({
    ...one,
    chunks: one.chunks.map(([, text]) => [80, text] as [number, string]),
  }));
  const server = await serve({ cassette: { ...cassette, exchanges: slow }, pace: true });
  const ask = async (content: string) => {
    const body = JSON.stringify({ model: 'big', messages: [{ role: 'user', content }], stream: true });
    const response = await fetch(`${server.url}/chat/completions`, { method: 'POST', body });
    return `${response.status} ${await response.text()}`;
  };
  const started = performance.now();
  expect(await ask('review it')).toMatch(/^200 .*fine/s);
  expect(performance.now() - started).toBeGreaterThan(70);
  expect(await ask('something else')).toMatch(/^500 /);
});
