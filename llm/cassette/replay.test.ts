import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { ModelDelta } from '../../core/model.ts';
import { linesOf, recordingBench, replayingBench } from '../../test/helpers/cassette.ts';
import { asking } from '../../test/helpers/gateway-bench.ts';

const write = { name: 'write', arguments: { path: 'a', content: 'hello' } };
const tools = [{ name: 'write', description: 'write', parameters: { type: 'object' } }];
const steps = [{ text: 'first', thinking: 'hm', calls: [write], usage: { input: 9, output: 4 } }, 'second'];

test('R-LLM-80: a replay gives the same replies and usage, with nobody to ask and no key', async () => {
  const recorded = await recordingBench({ coder: steps });
  const coder = await recorded.agent('coder-1', 'run.code');
  const ask = async (model: typeof coder.model) => [
    await model.reply(asking(0, { tools }), recorded.signal),
    await model.reply(asking(1, { turns: [{ role: 'user', content: 'go on' }] }), recorded.signal),
  ];
  const replies = await ask(coder.model);
  const usage = recorded.gateway.usage();
  await recorded.done();

  const replay = await replayingBench(recorded.path);
  expect(await ask((await replay.agent('coder-1', 'run.code')).model)).toEqual(replies);
  const { rows, cost } = replay.gateway.usage();
  expect({ rows, cost }).toEqual({ rows: usage.rows, cost: usage.cost });
  expect(replay.server.requests).toEqual([]);
  expect(replay.notices).toEqual([]);
});

test('R-LLM-80: what a reply showed on its way is shown again, delta by delta', async () => {
  const recorded = await recordingBench({ coder: [{ text: 'a longer text in several deltas', thinking: 'hm' }] });
  const deltas = async ({ agent, signal }: Pick<typeof recorded, 'agent' | 'signal'>) => {
    const seen: ModelDelta[] = [];
    const { model } = await agent('coder-1', 'run.code');
    await model.reply(asking(), signal, (delta) => void (delta.kind !== 'alive' && seen.push(delta)));
    return seen;
  };
  const seen = await deltas(recorded);
  await recorded.done();
  expect(seen.length).toBeGreaterThan(2);
  expect(await deltas(await replayingBench(recorded.path))).toEqual(seen);
});

test('R-LLM-81: refusals, broken streams and their tries are recorded, and played without the waits', async () => {
  const faulty = [
    { text: 'after a refusal', fault: { type: 'status' as const, status: 429, retry_after: 1, times: 1 } },
    { text: 'after a cut', fault: { type: 'cut' as const, after: 1, times: 1 } },
    { text: 'after a stall', fault: { type: 'stall' as const, after: 1, times: 1 } },
  ];
  const timeouts = { firstByteMs: 10_000, idleMs: 300 };
  const recorded = await recordingBench({ coder: faulty }, { timeouts });
  const play = async ({ agent, signal, records }: Pick<typeof recorded, 'agent' | 'signal' | 'records'>) => {
    const { model } = await agent('coder-1', 'run.code');
    const texts: string[] = [];
    for (const turn of faulty.keys()) texts.push((await model.reply(asking(turn), signal)).content);
    return { texts, tries: records.map(({ event }) => [event.turn, event.ok, event.error]) };
  };
  const first = await play(recorded);
  await recorded.done();
  const kinds = first.tries.map(([, , error]) => error);
  expect(kinds).toEqual(['rate_limit', undefined, 'incomplete', undefined, 'stalled', undefined]);
  const exchanges = (await linesOf(recorded.path)).filter((line) => 'exchange' in line);
  expect(exchanges.map(({ status, end }) => [status, end])).toEqual([
    [429, 'whole'],
    [200, 'left'],
    [200, 'cut'],
    [200, 'left'],
    [200, 'aborted'],
    [200, 'left'],
  ]);
  const replay = await replayingBench(recorded.path);
  const started = performance.now();
  expect(await play(replay)).toEqual(first);
  expect(performance.now() - started).toBeLessThan(1000);
});

test('R-LLM-82: a program of others is recorded and replayed with no work of its own', async () => {
  const recorded = await recordingBench({ coder: steps });
  const talk = async ({ agent, gateway }: Pick<typeof recorded, 'agent' | 'gateway'>) => {
    const { token } = await agent('coder-1', 'run.code');
    const client = new OpenAI({ baseURL: gateway.url, apiKey: token, maxRetries: 0 });
    const ask = (content: string) =>
      client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content }] });
    return [await ask('one'), await ask('two')].map(({ choices }) => {
      const { content, tool_calls: calls } = choices[0]?.message ?? {};
      return { content, calls: calls?.map((call) => call.type === 'function' && call.function) };
    });
  };
  const first = await talk(recorded);
  await recorded.done();
  expect(await talk(await replayingBench(recorded.path))).toEqual(first);
});

test('R-LLM-83: a request that differs is answered all the same, and people hear where it does', async () => {
  const recorded = await recordingBench({ coder: ['one', 'two'] });
  const coder = await recorded.agent('coder-1', 'run.code');
  const turns = (text: string) => [
    { role: 'system' as const, content: 'You write code.' },
    { role: 'user' as const, content: text },
  ];
  await coder.model.reply(asking(0, { turns: turns('make it double') }), recorded.signal);
  await coder.model.reply(asking(1, { turns: turns('again') }), recorded.signal);
  await recorded.done();

  const replay = await replayingBench(recorded.path);
  const { model } = await replay.agent('coder-1', 'run.code');
  const reply = await model.reply(asking(0, { turns: turns('make it triple') }), replay.signal);
  expect(reply.content).toBe('one');
  expect(replay.notices).toEqual([
    'replay: coder-1, task code, request 1: messages[1].content differs from the recording at character 9: recorded "make it double", now "make it triple"',
  ]);
  const short = await model.reply(asking(1, { turns: turns('again').slice(1) }), replay.signal);
  expect(short.content).toBe('two');
  expect(replay.notices[1]).toContain('messages[0].role differs from the recording at character 1: recorded "system"');
  await replay.tape.close();
  expect(replay.notices.at(-1)).toBe('replay: 2 replies played, 0 of the recording not asked for, 2 requests differed');
});

test('R-LLM-84: what was not recorded is an error that says so, and asks no other route', async () => {
  const recorded = await recordingBench({ coder: ['one'] });
  const coder = await recorded.agent('coder-1', 'run.code');
  await coder.model.reply(asking(), recorded.signal);
  await recorded.done();
  const replay = await replayingBench(recorded.path, { fallbackModels: ['other'] });
  const { model } = await replay.agent('coder-1', 'run.code');
  await model.reply(asking(), replay.signal);
  const turns = [{ role: 'user' as const, content: 'more' }];
  const error = await model.reply(asking(1, { turns }), replay.signal).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'misconfigured', retryable: false });
  expect((error as Error).message).toMatch(
    /has no reply for request 2 of the coder in task code, .*of its 1 replies 0 are not played/,
  );
  expect(replay.records).toHaveLength(2);
});

test('R-LLM-84: the same question in another place has its recorded answer', async () => {
  const recorded = await recordingBench({ coder: ['one'], reviewer: ['two'] });
  for (const name of ['coder-1', 'reviewer-1']) {
    const turns = [{ role: 'user' as const, content: `I am ${name}` }];
    await (await recorded.agent(name, `run.${name}`)).model.reply(asking(0, { turns }), recorded.signal);
  }
  await recorded.done();
  const replay = await replayingBench(recorded.path);
  const turns = [{ role: 'user' as const, content: 'I am reviewer-1' }];
  const { model } = await replay.agent('somebody-1', 'run.other');
  expect((await model.reply(asking(7, { turns }), replay.signal)).content).toBe('two');
  expect(replay.notices).toEqual([]);
});

test('R-LLM-84: a later attempt that asks what an earlier one asked hears the same', async () => {
  const recorded = await recordingBench({ coder: ['one'] });
  await (await recorded.agent('coder-1', 'run.code')).model.reply(asking(), recorded.signal);
  await recorded.done();
  const replay = await replayingBench(recorded.path);
  for (const attempt of [1, 2]) {
    const { model } = await replay.agent('coder-1', 'run.code', attempt);
    expect((await model.reply(asking(), replay.signal)).content).toBe('one');
  }
  expect(replay.notices).toEqual([]);
});
