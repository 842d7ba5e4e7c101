import { expect, onTestFinished, test } from 'vitest';
import { type Model, ModelError } from '../../core/model.ts';
import type { BudgetLimits } from '../../protocol/index.ts';
import { asking, gatewayBench } from '../../test/helpers/gateway-bench.ts';
import { openGatewayModel, takeAttempt, type UsageEvent } from '../index.ts';
import { PriceFile, PriceTable } from './price-table.ts';

const prices = new PriceTable([
  PriceFile.parse({ models: [{ model: 'big', currency: 'CNY', input: 1000, cached: 100, output: 2000 }] }),
]);
const offers = ['read', 'write', 'submit-result', 'comment', 'plan'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'object' },
}));
const using = (input: number, more: object = {}) => ({ text: 'x', usage: { input, output: 0, ...more } });

async function failure(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw new Error(`no model error but ${error}`);
  return error;
}

/** The notes and tools of each request that the model server saw. */
const seen = (server: Awaited<ReturnType<typeof gatewayBench>>['server']) =>
  server.requests.map(({ body }) => ({
    note: /\[(\d+) % of the budget/.exec(String(body.messages.at(-1)?.content))?.[1],
    tools: (body.tools as { function: { name: string } }[] | undefined)?.map((tool) => tool.function.name).join(' '),
  }));

const all = 'read write submit-result comment plan';
const few = 'submit-result comment plan';

for (const [unit, budget, steps] of [
  ['tokens', { tokens: 1000 }, [800, 100, 50, 50]],
  ['money', { money: { amount: 1, currency: 'CNY' } }, [800, 100, 50, 50]],
  ['calls', { calls: 10 }, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
] as [string, BudgetLimits, number[]][]) {
  test(`R-LLM-33: at 80 % of a budget of ${unit} the model is told once, at 90 % it has wrap-up tools, at 100 % no model is asked`, async () => {
    const notices: string[] = [];
    const { agent, signal, server, gateway } = await gatewayBench(
      { coder: steps.map((input) => using(input)) },
      { budget, prices, onNotice: (line) => notices.push(line) },
    );
    const { model } = await agent('coder-1', 'run.code');
    for (const turn of steps.keys()) await model.reply(asking(turn, { tools: offers }), signal);
    const calm = { note: undefined, tools: all };
    const before = steps.length - 3;
    expect(seen(server)).toEqual([
      ...Array.from({ length: unit === 'calls' ? 8 : before }, () => calm),
      { note: '80', tools: all },
      { note: '90', tools: few },
      ...(unit === 'calls' ? [] : [{ note: undefined, tools: few }]),
    ]);
    expect(await failure(model.reply(asking(99), signal))).toMatchObject({
      kind: 'budget',
      message: expect.stringContaining(`NPC_BUDGET_${unit.toUpperCase()}`),
    });
    expect(server.requests).toHaveLength(steps.length);
    expect(gateway.usage().level).toBe('spent');
    expect(notices.filter((line) => line.includes('% of the budget')).map((line) => line.split(' ', 1)[0])).toEqual([
      '80',
      '90',
      '100',
    ]);
  });
}

test('R-LLM-33: a budget of time is told, leaves wrap-up tools, and ends the asking; what earlier processes worked counts', async () => {
  const after = async (earlierSeconds: number) => {
    const bench = await gatewayBench({ coder: [using(1)] }, { budget: { seconds: 10_000 }, earlierSeconds });
    const { model } = await bench.agent('coder-1', 'run.code');
    const error = await model.reply(asking(0, { tools: offers }), bench.signal).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { seen: seen(bench.server), error };
  };
  expect((await after(7_000)).seen).toEqual([{ note: undefined, tools: all }]);
  expect((await after(8_500)).seen).toEqual([{ note: '85', tools: all }]);
  expect((await after(9_500)).seen).toEqual([{ note: '95', tools: few }]);
  expect(await after(10_000)).toMatchObject({
    seen: [],
    error: { kind: 'budget', message: expect.stringContaining('NPC_BUDGET_SECONDS') },
  });
});

test('R-LLM-33: each task is told for itself; a judge and a summary are not', async () => {
  const { agent, gateway, signal, server } = await gatewayBench(
    { coder: [using(850), using(1), using(1)], judge: [using(1)] },
    { budget: { tokens: 1000 } },
  );
  const first = await agent('coder-1', 'run.a');
  for (const turn of [0, 1]) await first.model.reply(asking(turn, { tools: offers }), signal);
  const second = await agent('coder-2', 'run.b');
  await second.model.reply(asking(0, { tools: offers }), signal);
  await gateway.modelFor({ role: 'judge', agent: 'coordinator', taskId: 'run' }).reply(asking(), signal);
  expect(seen(server).map(({ note }) => note)).toEqual([undefined, '85', '85', undefined]);
});

test('R-LLM-33: what is told stands behind a tool’s result, not in a message of its own', async () => {
  const { agent, signal, server } = await gatewayBench({ coder: [using(850), using(1)] }, { budget: { tokens: 1000 } });
  const { model } = await agent('coder-1', 'run.code');
  await model.reply(asking(0, { tools: offers }), signal);
  const call = { id: 'c1', name: 'read', input: {}, origin: 'native' as const };
  const turns = [
    { role: 'user' as const, content: 'please' },
    { role: 'assistant' as const, content: '', calls: [call], finish: 'tool_calls' as const, usage: null },
    { role: 'tool' as const, call_id: 'c1', name: 'read', content: 'text', ok: true },
  ];
  await model.reply(asking(1, { tools: offers, turns }), signal);
  const messages = server.requests[1]?.body.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(messages.at(-1)?.content).toMatch(/^text\n\n\[85 % of the budget is used \(850 of 1,000 tokens\)/);
});

test('R-LLM-33: a call of a tool that is not left any more reaches the agent as refused, with the reason', async () => {
  const calls = [{ name: 'read' }, { name: 'submit-result' }];
  const { agent, gateway, signal } = await gatewayBench(
    { coder: [using(950), { calls, usage: { input: 1, output: 0 } }, { calls, usage: { input: 1, output: 0 } }] },
    { budget: { tokens: 1000 } },
  );
  const { model } = await agent('coder-1', 'run.code');
  await model.reply(asking(0, { tools: offers }), signal);
  const reply = await model.reply(asking(1, { tools: offers }), signal);
  const [read, submit] = reply.calls;
  expect(read?.refused).toMatch(/^95 % of the budget is used .*; only these tools are left: submit-result, comment/);
  expect(submit).not.toHaveProperty('refused');
  const same = gateway.modelFor({ role: 'coder', agent: 'coder-1', taskId: 'run.code' });
  expect((await same.reply(asking(2, { tools: offers }), signal)).calls[0]?.refused).toContain('(951 of');
});

test('R-LLM-33: another program gets no call that is not left, but the reason as text; without a wrap-up tool it is asked for text', async () => {
  const { agent, gateway, server } = await gatewayBench(
    { shell: [using(950), { calls: [{ name: 'bash' }], usage: { input: 1, output: 0 } }] },
    { budget: { tokens: 1000 } },
  );
  const { token } = await agent('shell-1', 'run.code');
  const ask = async () => {
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'x',
        messages: [{ role: 'user', content: 'go' }],
        tools: [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }],
      }),
    });
    return (await response.json()) as {
      choices: [{ message: { content: string; tool_calls?: object }; finish_reason: string }];
    };
  };
  await ask();
  const [choice] = (await ask()).choices;
  expect(choice.finish_reason).toBe('stop');
  expect(choice.message).not.toHaveProperty('tool_calls');
  expect(choice.message.content).toMatch(/^\[bash was not run: 95 % of the budget/);
  expect(server.requests[1]?.body).not.toHaveProperty('tools');
});

test('R-LLM-32: after a restart the budget goes on where it was, and what was told is not told again', async () => {
  const script = { coder: [using(850), using(1), using(100)] };
  const budget = { tokens: 1000 };
  const old = await gatewayBench(script, { budget });
  const first = await old.agent('coder-1', 'run.a');
  for (const turn of [0, 1]) await first.model.reply(asking(turn, { tools: offers }), old.signal);
  const earlier: { event: UsageEvent; taskId: string }[] = JSON.parse(JSON.stringify(old.records));
  const { agent, gateway, signal, server } = await gatewayBench(script, { budget, earlier });
  expect(gateway.usage()).toMatchObject({ level: 'converge', budget: [{ unit: 'tokens', used: 851, limit: 1000 }] });
  const { model } = await agent('coder-1', 'run.a', 2);
  await model.reply(asking(2, { tools: offers }), signal);
  expect(seen(server)).toEqual([{ note: undefined, tools: all }]);
  expect(gateway.usage().level).toBe('wrap_up');
});

test('R-LLM-30: a try costs what its tokens cost, each counted once; an unknown price is no cost, and is said', async () => {
  const notices: string[] = [];
  const { agent, gateway, signal, records } = await gatewayBench(
    {
      coder: [
        { text: 'x', usage: { input: 1000, output: 100, cached: 900 }, fault: { type: 'status', status: 500 } },
        { text: 'x'.repeat(40), usage: null },
      ],
      flash: [using(10)],
    },
    { prices, onNotice: (line) => notices.push(line) },
  );
  const { model } = await agent('coder-1', 'run.code');
  for (const turn of [0, 1]) await model.reply(asking(turn), signal);
  for (const turn of [2, 3]) await model.reply(asking(turn, { choice: 'flash' }), signal).catch(() => {});
  expect(records[0]?.event).toMatchObject({ ok: false, usage: null });
  expect(records[0]?.event).not.toHaveProperty('cost');
  expect(records[1]?.event.cost).toEqual({ amount: 0.1 + 0.09 + 0.2, currency: 'CNY' });
  expect(records[2]?.event).toMatchObject({ usage: null, estimate: { output: 10 }, cost: { currency: 'CNY' } });
  expect(records[3]?.event).not.toHaveProperty('cost');
  const { cost, estimated, unpriced, rows } = gateway.usage();
  expect(Object.keys(cost)).toEqual(['CNY']);
  expect({ estimated, unpriced }).toEqual({ estimated: 1, unpriced: 1 });
  expect(rows.find((row) => row.model === 'small')).toMatchObject({ cost: {}, unpriced: 1 });
  expect(notices.filter((line) => line.includes('"small"'))).toEqual([
    'the model "small": its price is not known, so what it costs is not counted, and its context is taken as 128,000 tokens; a file named by NPC_PRICES can say more',
  ]);
});

/** A model server that keeps to `max_tokens`, and says how much was asked for. */
async function frugal(budget: BudgetLimits, output: number) {
  const steps = Array.from({ length: 12 }, () => ({ text: 'x', delay_ms: 30, usage: { input: 10, output } }));
  return await gatewayBench({ coder: steps }, { budget, prices, concurrency: 8 });
}

test('R-LLM-34: agents side by side exceed a budget by no more than one call’s guess', async () => {
  const { agent, gateway, signal, server } = await frugal({ tokens: 30_000 }, 4000);
  const models: Model[] = [];
  for (const name of [1, 2, 3, 4, 5, 6]) models.push((await agent(`coder-${name}`, `run.${name}`)).model);
  const ends = await Promise.allSettled(
    models.flatMap((model) => [model.reply(asking(0), signal), model.reply(asking(1), signal)]),
  );
  const spent = ends.filter((end) => end.status === 'rejected');
  expect(spent.length).toBeGreaterThan(0);
  for (const end of spent) expect(end.reason).toMatchObject({ kind: 'budget' });
  expect(gateway.usage().tokens).toBeLessThan(30_000 + 4010);
  expect(server.requests.length).toBe(12 - spent.length);
});

test('R-LLM-34: a reply is limited to what is left, by tokens and by money, in the field that the caller uses', async () => {
  const limitOf = async (budget: BudgetLimits, first: number, asked?: number) => {
    const { agent, signal, server } = await gatewayBench({ coder: [using(first), using(1)] }, { budget, prices });
    const { model } = await agent('coder-1', 'run.code');
    const more = asked === undefined ? {} : { maxOutputTokens: asked };
    for (const turn of [0, 1]) await model.reply(asking(turn, more), signal);
    return server.requests.map(({ body }) => body.max_tokens);
  };
  const [free, limited] = await limitOf({ tokens: 100_000 }, 95_000);
  expect(free).toBeUndefined();
  expect(limited).toBeGreaterThan(4900);
  expect(limited).toBeLessThanOrEqual(5000);
  expect(await limitOf({ tokens: 100_000 }, 95_000, 2000)).toEqual([2000, 2000]);
  expect((await limitOf({ tokens: 100_000 }, 99_900))[1]).toBe(100);
  // 1 CNY is left: 500 tokens of output at 2000 CNY a million; the least that is worth asking for is more
  expect((await limitOf({ money: { amount: 10, currency: 'CNY' } }, 9000))[1]).toBe(1024);
  expect((await limitOf({ money: { amount: 20, currency: 'CNY' } }, 10_000))[1]).toBeLessThanOrEqual(5000);
});

test('R-LLM-34: a call that waits for its place can be cancelled', async () => {
  const { agent, signal, server } = await gatewayBench(
    { coder: [{ text: 'slow', delay_ms: 60_000 }], writer: ['x'] },
    { budget: { tokens: 5000 }, timeouts: { firstByteMs: 60_000 } },
  );
  const slow = new AbortController();
  onTestFinished(() => slow.abort());
  const { model } = await agent('coder-1', 'run.a');
  const other = await agent('writer-1', 'run.b');
  const pending = model.reply(asking(), slow.signal).catch(() => {});
  await expect.poll(() => server.requests.length).toBe(1);
  const waiting = new AbortController();
  const second = other.model.reply(asking(), waiting.signal);
  const reason = new Error('enough');
  waiting.abort(reason);
  await expect(second).rejects.toBe(reason);
  slow.abort();
  await pending;
  expect((await other.model.reply(asking(), signal)).content).toBe('x');
});

test('R-LLM-35: a process that is granted a slice ends with it; the others go on, and get the rest back', async () => {
  const { gateway, signal } = await gatewayBench(
    { sub: [using(60), using(60)], coder: [using(10), using(10)] },
    { budget: { tokens: 1000 } },
  );
  const open = async (agent: string, role: string, slice?: { tokens: number }) => {
    const processToken = gateway.grantProcess({ agent, role, ...(slice && { slice }) });
    const { token } = await takeAttempt({ url: gateway.url, processToken, taskId: `run.${agent}`, attempt: 1, signal });
    return openGatewayModel({ url: gateway.url, token });
  };
  const sub = await open('coder-1_sub-1', 'sub', { tokens: 100 });
  const coder = await open('coder-1', 'coder');
  await sub.reply(asking(0), signal);
  await sub.reply(asking(1), signal);
  const error = await failure(sub.reply(asking(2), signal));
  expect(error).toMatchObject({ kind: 'budget', message: expect.stringContaining('coder-1_sub-1') });
  await coder.reply(asking(0), signal);
  gateway.endSlice('coder-1_sub-1');
  expect(gateway.usage()).toMatchObject({ tokens: 130, level: 'ok' });
});

test('R-LLM-35: an agent takes an attempt for its sub-agent with a slice of its own, which ends with the task', async () => {
  const { gateway, signal } = await gatewayBench(
    { coder: [using(20), using(90), using(1)] },
    { budget: { tokens: 1000 } },
  );
  const processToken = gateway.grantProcess({ agent: 'coder-1', role: 'coder', slice: { tokens: 200 } });
  const place = { url: gateway.url, processToken, attempt: 1, signal };
  const mine = await takeAttempt({ ...place, taskId: 'run.code' });
  const coder = openGatewayModel({ url: gateway.url, token: mine.token });
  await coder.reply(asking(0), signal);
  const subAgent = { name: 'coder-1_sub-1', slice: { tokens: 500 } };
  const taken = await takeAttempt({ ...place, taskId: 'run.code.sub-1', subAgent });
  expect(taken.slice).toEqual({ tokens: 180 });
  const sub = openGatewayModel({ url: gateway.url, token: taken.token });
  await sub.reply(asking(0), signal);
  expect((await failure(coder.reply(asking(1), signal))).message).toContain('coder-1');
  gateway.revokeTask('run.code.sub-1');
  expect((await failure(sub.reply(asking(1), signal))).kind).toBe('cancelled');
  await coder.reply(asking(1), signal);
  const stranger = takeAttempt({ ...place, taskId: 'run.x', subAgent: { ...subAgent, name: 'coder-2_sub-1' } });
  expect((await failure(stranger)).kind).toBe('bad_request');
});

test('R-LLM-36: windows and prices reach the agents and the list of models', async () => {
  const known = new PriceTable([
    PriceFile.parse({
      models: [
        { model: 'big', currency: 'CNY', input: 1, output: 2, window: 1_000_000, max_output: 64_000 },
        { model: 'small', window: 32_000 },
      ],
    }),
  ]);
  const { gateway, signal } = await gatewayBench({}, { prices: known });
  const processToken = gateway.grantProcess({ agent: 'coder-1', role: 'coder' });
  const { token, windows } = await takeAttempt({ url: gateway.url, processToken, taskId: 'r', attempt: 1, signal });
  expect(windows).toEqual({ default: 1_000_000, flash: 32_000, review: 1_000_000, vision: 1_000_000 });
  const response = await fetch(`${gateway.url}/models`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = (await response.json()) as { data: { id: string }[] };
  expect(data.find(({ id }) => id === 'big')).toMatchObject({
    context_length: 1_000_000,
    max_output_tokens: 64_000,
    pricing: { currency: 'CNY', input: 1, output: 2 },
  });
  expect(data.find(({ id }) => id === 'flash')).toMatchObject({ context_length: 32_000, pricing: null });
  const override = await gatewayBench({}, { prices: known, window: 200_000 });
  expect(override.gateway.windows()).toMatchObject({ default: 200_000, flash: 32_000 });
  expect((await gatewayBench({})).gateway.windows().default).toBe(128_000);
});
