import { expect, test } from 'vitest';
import { type ModelDelta, ModelError } from '../core/model.ts';
import { asking, gatewayBench } from '../test/helpers/gateway-bench.ts';
import { takeAttempt, type UsageEvent } from './index.ts';

const write = { name: 'write', arguments: { path: 'a.txt', content: 'hello' } };

async function failure(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw new Error(`no model error but ${error}`);
  return error;
}

test('R-LLM-1: text, thinking, calls and usage of a script arrive at the agent as they were written', async () => {
  const usage = { input: 100, output: 20, cached: 64, thinking: 8 };
  const text = '写好了。'.repeat(20);
  const { agent, signal } = await gatewayBench({
    coder: [{ text, thinking: 'first\nthen second', calls: [write, { name: 'ls' }], usage }],
  });
  const { model } = await agent('coder-1', 'run.code');
  const reply = await model.reply(asking(), signal);
  expect(reply).toMatchObject({
    role: 'assistant',
    content: text,
    reasoning: 'first\nthen second',
    calls: [
      { name: 'write', input: write.arguments, origin: 'native' },
      { name: 'ls', input: {} },
    ],
    finish: 'tool_calls',
    usage,
  });
  expect(new Set(reply.calls.map((call) => call.id)).size).toBe(2);
});

test('R-LLM-1: the model in this process answers like the one behind the hop', async () => {
  const { gateway, signal, records } = await gatewayBench({ judge: ['complete'] });
  const judge = gateway.modelFor({ role: 'judge', agent: 'coordinator', taskId: 'run' });
  const reply = await judge.reply(asking(0, { choice: 'flash' }), signal);
  expect(reply).toMatchObject({ content: 'complete', finish: 'stop', calls: [] });
  expect(records[0]?.event).toMatchObject({ role: 'judge', agent: 'coordinator', model: 'small' });
});

test('R-LLM-2: arguments cut by the output limit reach the agent as a broken call (A10)', async () => {
  const { agent, signal } = await gatewayBench({ coder: [{ calls: [write], fault: { type: 'cut_arguments' } }] });
  const { model } = await agent('coder-1', 'run.code');
  const reply = await model.reply(asking(), signal);
  expect(reply.finish).toBe('length');
  expect(reply.calls).toMatchObject([{ name: 'write', input: {}, broken: expect.stringContaining('output limit') }]);
});

test('R-LLM-4: a rate limit is waited out as the provider asks, and the reply comes', async () => {
  const { agent, signal, server, records } = await gatewayBench({
    coder: [{ text: 'here', fault: { type: 'status', status: 429, retry_after: 0.2, times: 2 } }],
  });
  const { model } = await agent('coder-1', 'run.code');
  const reply = await model.reply(asking(), signal);
  expect(reply.content).toBe('here');
  const at = server.requests.map((request) => request.at);
  expect(at).toHaveLength(3);
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(190);
  expect(records.map(({ event }) => [event.ok, event.error])).toEqual([
    [false, 'rate_limit'],
    [false, 'rate_limit'],
    [true, undefined],
  ]);
});

test('R-LLM-4: a wait longer than allowed is reported at once, with its length', async () => {
  const { agent, signal, server } = await gatewayBench({
    coder: [{ fault: { type: 'status', status: 429, retry_after: 3600, times: 'always' } }],
  });
  const { model } = await agent('coder-1', 'run.code');
  const error = await failure(model.reply(asking(), signal));
  expect(error).toMatchObject({ kind: 'rate_limit', retryable: true });
  expect(error.message).toContain('3600 s');
  expect(server.requests).toHaveLength(1);
});

test('R-LLM-4: no wait goes beyond the time left', async () => {
  const { agent, signal, server } = await gatewayBench(
    { coder: [{ fault: { type: 'status', status: 503, retry_after: 2, times: 'always' } }] },
    { timeLeftMs: () => 1000 },
  );
  const { model } = await agent('coder-1', 'run.code');
  expect((await failure(model.reply(asking(), signal))).kind).toBe('overloaded');
  expect(server.requests).toHaveLength(1);
});

for (const [what, fault, kind] of [
  ['a rejected key', { type: 'status', status: 401, message: 'Incorrect API key provided' }, 'auth'],
  ['a forbidden model', { type: 'status', status: 403, message: 'no access' }, 'auth'],
  ['an empty account', { type: 'status', status: 429, code: 'insufficient_quota', message: 'no credit' }, 'quota'],
  ['a long prompt', { type: 'status', status: 400, message: 'This prompt is too long: 9001 > 8192' }, 'context_length'],
] as const) {
  test(`R-LLM-4: ${what} is not tried again, and keeps its kind on the way to the agent`, async () => {
    const { agent, signal, server } = await gatewayBench({ coder: [{ fault: { ...fault, times: 'always' } }] });
    const { model } = await agent('coder-1', 'run.code');
    expect(await failure(model.reply(asking(), signal))).toMatchObject({ kind, retryable: false });
    expect(server.requests).toHaveLength(1);
  });
}

for (const [what, fault, kind] of [
  ['status 500', { type: 'status', status: 500 }, 'server'],
  ['status 529', { type: 'status', status: 529 }, 'overloaded'],
  ['a reset before the answer', { type: 'cut', after: 0 }, 'server'],
  ['a reset in the middle', { type: 'cut', after: 2 }, 'incomplete'],
  ['an error inside the stream', { type: 'error_event' }, 'server'],
  ['an empty reply', { type: 'empty' }, 'empty'],
  ['an HTML page', { type: 'html' }, 'not_sse'],
] as const) {
  test(`R-LLM-4: ${what} is survived twice; R-LLM-9: for ever, the agent gets its kind`, async () => {
    const { agent, signal, server } = await gatewayBench({
      coder: [
        { text: 'a text of several deltas, so that a cut falls inside it', fault: { ...fault, times: 2 } },
        { text: 'a text of several deltas, so that a cut falls inside it', fault: { ...fault, times: 'always' } },
      ],
    });
    const { model } = await agent('coder-1', 'run.code');
    const shown: ModelDelta[] = [];
    const reply = await model.reply(asking(), signal, (delta) => shown.push(delta));
    expect(reply.content).toBe('a text of several deltas, so that a cut falls inside it');
    expect(await failure(model.reply(asking(1), signal))).toMatchObject({ kind, retryable: true });
    expect(server.requests).toHaveLength(6);
  });
}

test('R-LLM-5: a stream that goes silent ends as stalled, is tried again and then reported (A11)', async () => {
  const script = {
    coder: [
      { text: 'back', fault: { type: 'stall' as const, after: 1 } },
      { text: 'never', fault: { type: 'stall' as const, after: 1, times: 'always' as const } },
    ],
  };
  const { agent, signal, server } = await gatewayBench(script, { timeouts: { idleMs: 400 }, keepAliveMs: 100 });
  const { model } = await agent('coder-1', 'run.code');
  const alive: ModelDelta[] = [];
  expect((await model.reply(asking(), signal, (delta) => alive.push(delta))).content).toBe('back');
  expect(alive.some((delta) => delta.kind === 'alive')).toBe(true);
  const error = await failure(model.reply(asking(1), signal));
  expect(error.kind).toBe('stalled');
  expect(error.message).toContain('NPC_MODEL');
  expect(server.requests.map((request) => request.outcome)).toEqual(['stall', 'played', 'stall', 'stall', 'stall']);
});

test('R-LLM-5: an upstream that never answers is a timeout', async () => {
  const { agent, signal } = await gatewayBench(
    { coder: [{ text: 'late', delay_ms: 5000 }] },
    { timeouts: { firstByteMs: 150 }, retry: { attempts: 1 } },
  );
  const { model } = await agent('coder-1', 'run.code');
  expect((await failure(model.reply(asking(), signal))).kind).toBe('timeout');
});

test('R-LLM-5: an abort works while the stream is silent, and reaches the upstream', async () => {
  const { agent, server, records } = await gatewayBench(
    { coder: [{ text: 'x', delay_ms: 60_000 }] },
    { timeouts: { firstByteMs: 60_000 } },
  );
  const { model } = await agent('coder-1', 'run.code');
  const stop = new AbortController();
  const pending = model.reply(asking(), stop.signal);
  await expect.poll(() => server.requests.length).toBe(1);
  const reason = new Error('cancelled by the user');
  stop.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect.poll(() => server.requests[0]?.outcome).toBe('aborted');
  await expect.poll(() => records).toMatchObject([{ event: { ok: false, error: 'cancelled' } }]);
});

test('R-LLM-5: closing the gateway ends a silent stream within a second', async () => {
  const { agent, gateway, signal, server } = await gatewayBench(
    { coder: [{ text: 'x', fault: { type: 'stall', after: 1, times: 'always' } }] },
    { timeouts: { idleMs: 60_000 } },
  );
  const { model } = await agent('coder-1', 'run.code');
  const pending = failure(model.reply(asking(), signal));
  await expect.poll(() => server.requests.length).toBe(1);
  const started = performance.now();
  await gateway.close();
  expect((await pending).kind).toBe('cancelled');
  expect(performance.now() - started).toBeLessThan(1000);
});

test('R-LLM-6: a newer attempt takes the token of an older one, whose running call ends', async () => {
  const { agent, gateway, signal, server } = await gatewayBench({ coder: [{ text: 'slow', delay_ms: 60_000 }, 'ok'] });
  const old = await agent('coder-1', 'run.code', 1);
  const pending = failure(old.model.reply(asking(), signal));
  await expect.poll(() => server.requests.length).toBe(1);
  const next = await agent('coder-2', 'run.code', 2);
  expect((await pending).kind).toBe('cancelled');
  expect((await failure(old.model.reply(asking(1), signal))).kind).toBe('cancelled');
  expect((await next.model.reply(asking(1), signal)).content).toBe('ok');
  const processToken = gateway.grantProcess({ agent: 'coder-1', role: 'coder' });
  const again = takeAttempt({ url: gateway.url, processToken, taskId: 'run.code', attempt: 1, signal });
  expect((await failure(again)).kind).toBe('cancelled');
});

test('R-LLM-6: a revoked task is served no more until its next attempt', async () => {
  const { agent, gateway, signal } = await gatewayBench({ coder: ['a', 'b'] });
  const { model } = await agent('coder-1', 'run.code', 1);
  await model.reply(asking(), signal);
  gateway.revokeTask('run.code');
  expect((await failure(model.reply(asking(1), signal))).kind).toBe('cancelled');
  await expect(agent('coder-1', 'run.code', 1)).rejects.toMatchObject({ kind: 'cancelled' });
  const later = await agent('coder-1', 'run.code', 2);
  expect((await later.model.reply(asking(1), signal)).content).toBe('b');
});

test('R-LLM-6: without a token, with a process token or a made-up one, nothing is served', async () => {
  const { gateway, server } = await gatewayBench({ coder: ['x'] });
  const processToken = gateway.grantProcess({ agent: 'coder-1', role: 'coder' });
  for (const token of ['', processToken, 'made-up', 'key-of-the-upstream']) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'x' }] });
    const response = await fetch(`${gateway.url}/chat/completions`, { method: 'POST', headers, body });
    expect(response.status).toBe(401);
    expect((await fetch(`${gateway.url}/models`, { headers })).status).toBe(401);
  }
  expect(server.requests).toHaveLength(0);
});

test('R-LLM-7: the record is in the log before the end of its reply is handed on', async () => {
  const order: string[] = [];
  let release = () => {};
  const { agent, signal } = await gatewayBench(
    { coder: [{ text: 'x', calls: [write] }] },
    {
      record: async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
          order.push('recording');
        });
        order.push('recorded');
      },
    },
  );
  const { model } = await agent('coder-1', 'run.code');
  const pending = model.reply(asking(), signal).then(() => order.push('replied'));
  await expect.poll(() => order).toEqual(['recording']);
  release();
  await pending;
  expect(order).toEqual(['recording', 'recorded', 'replied']);
});

test('R-LLM-7: a reply that cannot be recorded is not handed on', async () => {
  const { agent, signal, server } = await gatewayBench(
    { coder: ['x'] },
    { record: () => Promise.reject(new Error('disk full')) },
  );
  const { model } = await agent('coder-1', 'run.code');
  const error = await failure(model.reply(asking(), signal));
  expect(error.message).toContain('message log');
  expect(server.requests).toHaveLength(1);
});

test('R-LLM-7: usage is summed by agent, task and model; without numbers from the provider it is estimated', async () => {
  const usage = { input: 10, output: 5 };
  const { agent, gateway, signal, records } = await gatewayBench({
    coder: [
      { text: 'a', usage },
      { text: '中文'.repeat(50), usage: null },
      { text: 'c', usage },
    ],
    flash: [{ text: 'short', usage }],
  });
  const first = await agent('coder-1', 'run.a');
  await first.model.reply(asking(0), signal);
  await first.model.reply(asking(1), signal);
  await first.model.reply(asking(2, { choice: 'flash' }), signal);
  const second = await agent('coder-2', 'run.b');
  await second.model.reply(asking(0), signal);
  const { rows, calls, level } = gateway.usage();
  expect(rows.map(({ agent: who, taskId, model, calls: count }) => [who, taskId, model, count])).toEqual([
    ['coder-1', 'run.a', 'big', 2],
    ['coder-1', 'run.a', 'small', 1],
    ['coder-2', 'run.b', 'big', 1],
  ]);
  expect([calls, level]).toEqual([4, 'ok']);
  expect(records[1]?.event).toMatchObject({ usage: null, estimate: { output: 100 } });
  expect(rows[0]?.output).toBe(105);
});

test('R-LLM-8: a budget is told at 80, 90 and 100 percent; a spent one refuses and asks no provider', async () => {
  const step = (input: number) => ({ text: 'x', usage: { input, output: 0 } });
  const { agent, gateway, signal, server } = await gatewayBench(
    { coder: [step(790), step(10), step(100), step(100)] },
    { budget: { tokens: 1000 } },
  );
  const { model } = await agent('coder-1', 'run.code');
  const levels: string[] = [];
  for (const turn of [0, 1, 2, 3]) {
    await model.reply(asking(turn), signal);
    levels.push(gateway.usage().level);
  }
  expect(levels).toEqual(['ok', 'converge', 'wrap_up', 'spent']);
  const error = await failure(model.reply(asking(4), signal));
  expect(error).toMatchObject({ kind: 'budget', retryable: false });
  expect(error.message).toContain('NPC_BUDGET_TOKENS');
  expect(server.requests).toHaveLength(4);
});

test('R-LLM-10: thinking is handed on line by line, before the reply is over, masked', async () => {
  const lines: string[] = [];
  const { agent, signal } = await gatewayBench(
    { coder: [{ thinking: 'one\ntwo with hush-hush\nthree', text: 'x', pace_ms: 5 }] },
    {
      onThinking: ({ role }, line) => lines.push(`${role}: ${line}`),
      secretsMask: (text) => text.replaceAll('hush-hush', '***'),
    },
  );
  const { model } = await agent('coder-1', 'run.code');
  const seen: number[] = [];
  await model.reply(asking(), signal, (delta) => {
    if (delta.kind === 'text') seen.push(lines.length);
  });
  expect(lines).toEqual(['coder: one', 'coder: two with ***', 'coder: three']);
  expect(seen[0]).toBeGreaterThanOrEqual(2);
});

test('R-LLM-6: secrets are masked in what goes to the model; half a character is made whole', async () => {
  const { agent, signal, server } = await gatewayBench(
    { coder: ['x'] },
    { secretsMask: (text) => text.replaceAll('hush-hush', '***') },
  );
  const { model } = await agent('coder-1', 'run.code');
  await model.reply(asking(0, { turns: [{ role: 'user', content: 'say hush-hush \uD83D!' }] }), signal);
  expect(server.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'say *** \uFFFD!' }]);
});

test('R-LLM-11: steps count a role’s replies in all tasks; an attempt that repeats a turn asks for the same step', async () => {
  const { agent, signal, server } = await gatewayBench({ coder: ['0', '1', '2', '3'] });
  const first = await agent('coder-1', 'run.a');
  for (const turn of [0, 1]) await first.model.reply(asking(turn), signal);
  const retried = await agent('coder-2', 'run.a', 2);
  expect((await retried.model.reply(asking(1), signal)).content).toBe('1');
  const returned = await agent('coder-1', 'run.a.r2');
  expect((await returned.model.reply(asking(0), signal)).content).toBe('2');
  expect((await returned.model.reply(asking(1), signal)).content).toBe('3');
  expect(server.requests.map(({ role, step }) => `${role} ${step}`)).toEqual(
    ['0', '1', '1', '2', '3'].map((step) => `coder ${step}`),
  );
});

test('R-LLM-11: a restarted gateway goes on from the usage records in the log', async () => {
  const old = await gatewayBench({ coder: [{ text: '0', usage: { input: 50, output: 50 } }] });
  await (await old.agent('coder-1', 'run.a')).model.reply(asking(0), old.signal);
  const earlier: { event: UsageEvent; taskId: string }[] = JSON.parse(JSON.stringify(old.records));
  const { agent, gateway, signal } = await gatewayBench({ coder: ['0', '1'] }, { earlier });
  expect(gateway.usage()).toMatchObject({ calls: 1, tokens: 100 });
  const { model } = await agent('coder-1', 'run.b');
  expect((await model.reply(asking(0), signal)).content).toBe('1');
});

test('R-LLM-11: calls to the small model do not shift the steps of their role', async () => {
  const { agent, signal } = await gatewayBench({ coder: ['first', 'second'], flash: ['sum 1', 'sum 2'] });
  const { model } = await agent('coder-1', 'run.a');
  const say = async (turn: number, choice: 'default' | 'flash') =>
    (await model.reply(asking(turn, { choice }), signal)).content;
  expect(await say(0, 'default')).toBe('first');
  expect(await say(1, 'flash')).toBe('sum 1');
  expect(await say(1, 'flash')).toBe('sum 2');
  expect(await say(1, 'default')).toBe('second');
});

test('R-LLM-13: a rejected key names its variable, an unknown model and an empty answer theirs', async () => {
  const message = async (status: number, text: string) => {
    const script = { coder: [{ fault: { type: 'status' as const, status, message: text, times: 'always' as const } }] };
    const { gateway, signal } = await gatewayBench(script);
    const model = gateway.modelFor({ role: 'coder', agent: 'coder-1', taskId: 'run.code' });
    return (await failure(model.reply(asking(), signal))).message;
  };
  expect(await message(401, 'Incorrect API key provided: key-of-the-upstream')).toMatch(
    /rejected the key.*OPENAI_API_KEY/,
  );
  expect(await message(401, 'Incorrect API key provided: key-of-the-upstream')).not.toContain('key-of-the-upstream');
  expect(await message(404, 'The model `big` does not exist')).toMatch(/does not know the model "big".*NPC_MODEL/);
});

test('R-LLM-14: at most the configured number of calls runs at once, the others wait their turn', async () => {
  const { agent, signal, server } = await gatewayBench(
    { coder: Array.from({ length: 6 }, () => ({ text: 'x', delay_ms: 60 })) },
    { concurrency: 2 },
  );
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, server.requests.filter((request) => request.outcome === 'playing').length);
  }, 5);
  const { model } = await agent('coder-1', 'run.a');
  await Promise.all([0, 1, 2, 3, 4, 5].map((turn) => model.reply(asking(turn), signal)));
  clearInterval(timer);
  expect(most).toBe(2);
});
