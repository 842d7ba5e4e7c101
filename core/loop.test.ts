import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { LoopEvent } from '../protocol/index.ts';
import {
  call,
  calls,
  endlessModel,
  opening,
  playLoop,
  readEvents,
  says,
  scriptedModel,
  submit,
  tool,
} from '../test/helpers/scripted-loop.ts';
import { ModelError } from './model.ts';
import { nudges } from './nudges.ts';

test('R-LOOP-1: a one-line answer to a question takes one model call', async () => {
  const model = scriptedModel([says('It is 42.')]);
  const { outcome, states } = await playLoop(model, { policy: { choice: 'flash', maxSteps: 40, answers: true } });
  expect(outcome).toEqual({ reason: 'answered', message: 'It ended with text.', steps: 1, answer: 'It is 42.' });
  expect(states).toEqual(['parsing_goal', 'executing', 'summarizing', 'done']);
  expect(model.requests).toHaveLength(1);
  expect(model.requests[0]).toMatchObject({ choice: 'flash', turn: 0, turns: opening });
});

test('R-LOOP-1: a task ends with the result that was submitted', async () => {
  const model = scriptedModel([calls(call('read', { path: 'a' })), submit('mended')]);
  const { outcome, states } = await playLoop(model, { tools: [tool('read')] });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 2, result: { status: 'success', summary: 'mended' } });
  expect(states).toEqual(['parsing_goal', 'executing', 'observing', 'executing', 'observing', 'done']);
});

test('R-LOOP-1: the model is offered the tools with the schema of their arguments', async () => {
  const model = scriptedModel([submit()]);
  const read = tool('read', { input: z.object({ path: z.string(), from: z.int().default(1) }) });
  await playLoop(model, { tools: [read] });
  const [offer, last] = model.requests[0]?.tools ?? [];
  expect(offer).toMatchObject({ name: 'read', description: 'The tool read.' });
  expect(offer?.parameters).toMatchObject({ type: 'object', required: ['path'] });
  expect(last?.name).toBe('submit-result');
});

test('R-LOOP-2: planning and second thoughts cost a call only if the policy asks for them', async () => {
  const repeat = () => calls(call('look', { at: 'x' }));
  const plain = scriptedModel([repeat(), repeat(), repeat(), submit()]);
  const first = await playLoop(plain, { tools: [tool('look')] });
  expect(first.states).not.toContain('planning');
  expect(first.states).not.toContain('reflecting');

  const thorough = scriptedModel([
    says('First this, then that.'),
    repeat(),
    repeat(),
    repeat(),
    says('Enough.'),
    submit(),
  ]);
  const second = await playLoop(thorough, {
    tools: [tool('look')],
    policy: { choice: 'default', maxSteps: 40, plans: true, reflects: true },
  });
  expect(second.outcome).toMatchObject({ reason: 'submitted', steps: 6 });
  expect(second.states.filter((state) => state === 'planning' || state === 'reflecting')).toEqual([
    'planning',
    'reflecting',
  ]);
  expect(thorough.requests[0]?.turns.at(-1)).toEqual({ role: 'user', content: nudges.plan });
  expect(thorough.requests[4]?.turns.at(-1)).toEqual({ role: 'user', content: nudges.reflect });
});

test('R-LOOP-3: a failing tool becomes a turn that the model can read', async () => {
  const broken = tool('nope', {
    run: () => {
      throw new Error('the file is locked; close it first');
    },
  });
  const { outcome, results, events } = await playLoop(scriptedModel([calls(call('nope')), submit()]), {
    tools: [broken],
  });
  expect(outcome.reason).toBe('submitted');
  expect(results[0]).toMatchObject({ name: 'nope', ok: false, content: 'the file is locked; close it first' });
  expect(events.find((event) => event.type === 'tool.finished')).toMatchObject({ ok: false });
});

test('R-LOOP-4: an unknown tool and arguments that do not fit are told to the model, and nothing runs', async () => {
  let runs = 0;
  const read = tool('read', { input: z.object({ path: z.string() }), run: () => `${++runs}` });
  const model = scriptedModel([calls(call('raed'), call('read', { path: 7 })), submit()]);
  const { results, events } = await playLoop(model, { tools: [read] });
  expect(results[0]?.content).toBe('There is no tool "raed". The tools are: read, submit-result.');
  expect(results[1]?.content).toMatch(/^Not run: the arguments of "read" do not fit. path: .*string/);
  expect(runs).toBe(0);
  expect(events.filter((event) => event.type === 'tool.started')).toHaveLength(1);
});

test('R-LOOP-5 (A10): a call that the output limit cut is not run, and the model reads what was cut', async () => {
  let writes = 0;
  const write = tool('write', { run: () => `${++writes}` });
  const cut = call('write', {}, { broken: 'the JSON ends inside a string: {"path":"x","content":"abc' });
  const model = scriptedModel([{ ...calls(cut), finish: 'length' }, submit()]);
  const { results } = await playLoop(model, { tools: [write] });
  expect(writes).toBe(0);
  expect(results[0]).toMatchObject({ call_id: cut.id, ok: false });
  expect(results[0]?.content).toContain('ends inside a string');
  expect(results[0]?.content).toContain('cut by the output limit');
});

test('R-LOOP-5 (A10): broken arguments without a cut ask for valid JSON', async () => {
  const model = scriptedModel([calls(call('write', {}, { broken: 'unexpected token' })), submit()]);
  const { results } = await playLoop(model, { tools: [tool('write')] });
  expect(results[0]?.content).toContain('one complete JSON object');
  expect(results[0]?.content).not.toContain('output limit');
});

test('R-LOOP-5 (A10): a model that goes on sending cut calls is stopped', async () => {
  const model = endlessModel(() => ({ ...calls(call('write', {}, { broken: 'cut' })), finish: 'length' }));
  const { outcome } = await playLoop(model, { tools: [tool('write')] });
  expect(outcome).toMatchObject({ reason: 'no_progress', steps: 8 });
});

/** A tool that notes when it begins and ends, and takes `ms`. */
function timed(name: string, trace: string[], concurrent: boolean) {
  return tool(name, {
    concurrent,
    run: async (input) => {
      const { n, ms = 1 } = input as { n: number; ms?: number };
      trace.push(`+${n}`);
      await delay(ms);
      trace.push(`-${n}`);
      return `result ${n}`;
    },
  });
}

test('R-LOOP-6: adjacent read-only calls run at the same time, at most three, and their results keep the order', async () => {
  const trace: string[] = [];
  const batch = [30, 20, 10, 1, 1].map((ms, n) => call('look', { n, ms }));
  const { results } = await playLoop(scriptedModel([calls(...batch), submit()]), {
    tools: [timed('look', trace, true)],
  });
  expect(trace.slice(0, 3)).toEqual(['+0', '+1', '+2']);
  expect(trace[3]).toBe('-2');
  expect(results.map((turn) => [turn.call_id, turn.content])).toEqual(batch.map((call, n) => [call.id, `result ${n}`]));
});

test('R-LOOP-6: a call with effects runs alone, after those before it and before those behind it', async () => {
  const trace: string[] = [];
  const names = ['look', 'look', 'edit', 'edit', 'look'];
  const batch = names.map((name, n) => call(name, { n, ms: 5 - n }));
  const model = scriptedModel([calls(...batch), submit()]);
  await playLoop(model, { tools: [timed('look', trace, true), timed('edit', trace, false)] });
  expect(trace.slice(0, 2)).toEqual(['+0', '+1']);
  expect(trace.slice(4)).toEqual(['+2', '-2', '+3', '-3', '+4', '-4']);
});

test('R-LOOP-7: every step is logged, and durable before the next one begins', async () => {
  const order: string[] = [];
  let writing = false;
  const model = scriptedModel([calls(call('read')), submit()]);
  await playLoop(
    {
      reply: async (request, signal) => {
        expect(writing).toBe(false);
        order.push('model');
        return model.reply(request, signal);
      },
    },
    {
      tools: [tool('read', { run: () => `${order.push('tool')}` })],
      record: async (event) => {
        expect(writing).toBe(false);
        writing = true;
        await delay(1);
        writing = false;
        order.push(LoopEvent.parse(event).type);
      },
    },
  );
  expect(order.filter((each) => each !== 'state.changed')).toEqual([
    ...['turn.added', 'turn.added', 'model.requested', 'model', 'turn.added'],
    ...['tool.started', 'tool', 'tool.finished', 'turn.added'],
    ...['model.requested', 'model', 'turn.added', 'tool.started', 'tool.finished', 'loop.stopped'],
  ]);
});

test('R-LOOP-7: what a call did is logged with its exit code, files and digests', async () => {
  const bash = tool('bash', {
    labels: ['why'],
    run: () => ({ text: 'one failed', ok: false, exit: 1, filesTouched: ['a.ts'] }),
  });
  const again = (why: string) => call('bash', { command: 'npm test', why }, { origin: 'rescued' });
  const { events } = await playLoop(scriptedModel([calls(again('first')), calls(again('second')), submit()]), {
    tools: [bash],
  });
  const [first, second] = events.filter((event) => event.type === 'tool.finished');
  expect(first).toMatchObject({ name: 'bash', origin: 'rescued', ok: false, exit: 1, files_touched: ['a.ts'] });
  expect(first?.args_hash).toMatch(/^[0-9a-f]{16}$/);
  expect(second).toMatchObject({ args_hash: first?.args_hash, result_hash: first?.result_hash });
});

test('R-LOOP-7: a log that cannot be written ends the loop with its error', async () => {
  const playing = playLoop(scriptedModel([]), { record: () => Promise.reject(new Error('disk full')) });
  await expect(playing).rejects.toThrow('disk full');
});

test('R-LOOP-8: text without a result gets one nudge, then the loop stops', async () => {
  const model = scriptedModel([says('All done!'), says('Really, all done.')]);
  const { outcome, turns, states } = await playLoop(model);
  expect(outcome).toMatchObject({ reason: 'answered', answer: 'Really, all done.', steps: 2 });
  expect(turns.filter((turn) => turn.content === nudges.submit)).toHaveLength(1);
  expect(states.at(-1)).toBe('error');
});

test('R-LOOP-8: a model that works on after the nudge may end with a result', async () => {
  const { outcome } = await playLoop(scriptedModel([says('All done!'), submit()]));
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 2 });
});

test('R-LOOP-8: an answer that the output limit cut is asked for once more, shorter', async () => {
  const policy = { choice: 'default', maxSteps: 9, answers: true } as const;
  const model = scriptedModel([says('It is becau', { finish: 'length' }), says('Short.')]);
  const { outcome, turns } = await playLoop(model, { policy });
  expect(outcome).toMatchObject({ reason: 'answered', answer: 'Short.' });
  expect(turns.at(-2)?.content).toBe(nudges.shorten);
});

test('R-LOOP-9: an empty reply is asked for once more, then the loop stops', async () => {
  const { outcome, turns } = await playLoop(scriptedModel([says('  '), says('')]));
  expect(outcome).toMatchObject({ reason: 'empty_reply', steps: 2 });
  expect(turns.filter((turn) => turn.content === nudges.empty)).toHaveLength(1);
});

test('R-LOOP-9: an empty reply does not go back to the provider, and is counted anew after a good one', async () => {
  const model = scriptedModel([says(''), calls(call('read')), says(''), submit()]);
  const { outcome } = await playLoop(model, { tools: [tool('read')] });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 4 });
  const empty = model.requests
    .flatMap((request) => request.turns)
    .filter((turn) => turn.role === 'assistant' && !turn.calls.length);
  expect(empty).toEqual([]);
});

test('R-LOOP-9: a model that reports emptiness as an error is treated the same', async () => {
  const empty = () => new ModelError('empty', 'nothing came', { retryable: true });
  expect((await playLoop(scriptedModel([empty(), submit()]))).outcome.reason).toBe('submitted');
  expect((await playLoop(scriptedModel([empty(), empty()]))).outcome.reason).toBe('empty_reply');
});

test.each([
  ['auth', 'model_error'],
  ['stalled', 'model_error'],
  ['budget', 'budget'],
  ['context_length', 'context_full'],
  ['cancelled', 'cancelled'],
] as const)('R-LOOP-10: a model that fails with %s stops the loop with %s, and its words', async (kind, reason) => {
  const model = scriptedModel([new ModelError(kind, 'Set another key.', { retryable: false })]);
  const { outcome, states, events } = await playLoop(model);
  expect(outcome).toEqual({ reason, message: 'Set another key.', steps: 0, errorKind: kind });
  expect(states.at(-1)).toBe('error');
  expect(events.at(-1)).toEqual({ type: 'loop.stopped', reason, message: 'Set another key.', steps: 0 });
});

test('R-LOOP-10: an error that is not a model error is not hidden', async () => {
  await expect(playLoop(scriptedModel([new TypeError('a fault of ours')]))).rejects.toThrow('a fault of ours');
});

test('R-LOOP-11: the step limit stops the loop', async () => {
  const model = endlessModel((step) => calls(call('read', { step })));
  const { outcome } = await playLoop(model, {
    tools: [tool('read', { run: (input) => JSON.stringify(input) })],
    policy: { choice: 'default', maxSteps: 5 },
  });
  expect(outcome).toMatchObject({ reason: 'step_limit', steps: 5 });
  expect(model.requests).toHaveLength(5);
});

test('R-LOOP-12 (A11): cancel ends a loop whose model says nothing and listens to nothing', async () => {
  const abort = new AbortController();
  const mute = { reply: () => new Promise<never>(() => {}) };
  const playing = playLoop(mute, { signal: abort.signal });
  await delay(5);
  abort.abort(new Error('stop'));
  expect((await playing).outcome).toMatchObject({ reason: 'cancelled' });
});

test('R-LOOP-12: cancel ends a loop whose tool hangs, and the tool is told', async () => {
  const abort = new AbortController();
  let told = false;
  const hang = tool('hang', {
    run: (_, { signal }) =>
      new Promise<string>(() => {
        signal.addEventListener('abort', () => {
          told = true;
        });
        setTimeout(() => abort.abort(), 5);
      }),
  });
  const { outcome, events } = await playLoop(scriptedModel([calls(call('hang'))]), {
    signal: abort.signal,
    tools: [hang],
  });
  expect(outcome.reason).toBe('cancelled');
  expect(told).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: 'loop.stopped', reason: 'cancelled' });
});

test('R-LOOP-12: a cancelled loop ends although its last word can no longer be logged', async () => {
  const abort = new AbortController();
  const { outcome } = await playLoop(
    scriptedModel([
      () => {
        abort.abort();
        return says('too late');
      },
    ]),
    {
      signal: abort.signal,
      record: () => (abort.signal.aborted ? Promise.reject(new Error('stale attempt')) : Promise.resolve()),
    },
  );
  expect(outcome.reason).toBe('cancelled');
});

test('R-LOOP-13: long results are cut with head, tail and a word on how to get the rest', async () => {
  const long = Array.from({ length: 5000 }, (_, n) => `line ${n}`).join('\n');
  const read = tool('read', { rest: 'read on with `offset`', run: () => long });
  const { results } = await playLoop(scriptedModel([calls(call('read')), submit()]), { tools: [read] });
  expect(results[0]?.content).toMatch(/^line 0\n[\s\S]*left out; to see them: read on with `offset`[\s\S]*line 4999$/);
  expect(Buffer.byteLength(results[0]?.content ?? '')).toBeLessThan(34_000);
});

test('R-LOOP-13: a tool that has nothing to say is told as such', async () => {
  const { results } = await playLoop(scriptedModel([calls(call('quiet')), submit()]), {
    tools: [tool('quiet', { run: () => '' })],
  });
  expect(results[0]?.content).toBe('(no output)');
});

test('R-LOOP-14 (A9): one call over and over, under new labels, is nudged, blocked and stopped in under 10 calls', async () => {
  let runs = 0;
  const bash = tool('bash', { labels: ['name'], run: () => 'noop'.repeat(Math.min(1, ++runs)) });
  const model = endlessModel((step) => calls(call('bash', { command: 'echo noop', name: `noop${step + 1}` })));
  const { outcome, results, events } = await playLoop(model, { tools: [bash] });
  expect(outcome).toMatchObject({ reason: 'no_progress', message: '"bash" was called 8 times and nothing changed.' });
  expect(model.requests).toHaveLength(8);
  expect(runs).toBe(4);
  expect(results.map((turn) => turn.content)).toEqual([
    ...['noop', 'noop', `noop\n${nudges.repeated(3)}`, `noop\n${nudges.repeated(4)}`],
    ...[5, 6, 7, 8].map((times) => `${nudges.blocked}\n${nudges.repeated(times)}`),
  ]);
  expect(events.filter((event) => event.type === 'hook.refused')).toHaveLength(4);
});

test('R-LOOP-15: a submitted result that hooks refuse twice is taken the third time', async () => {
  let asked = 0;
  const strict = {
    name: 'strict',
    at: {
      'submit.before': () => {
        asked += 1;
        return { refuse: `tests are older than the last edit (${asked})` };
      },
    },
  };
  const model = scriptedModel([submit('a'), submit('b'), submit('c')]);
  const { outcome, results } = await playLoop(model, { hooks: [strict] });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 3, result: { summary: 'c' } });
  expect(asked).toBe(2);
  expect(results.map((turn) => turn.content)).toEqual([
    'strict refuses: tests are older than the last edit (1)',
    'strict refuses: tests are older than the last edit (2)',
  ]);
  expect(results.every((turn) => !turn.ok)).toBe(true);
});

test('R-LOOP-15: a refused call is not run, and the model reads who refused and why', async () => {
  let runs = 0;
  const bash = tool('bash', { run: () => `${++runs}` });
  const guard = { name: 'no-rm', at: { 'tool.before': () => ({ refuse: 'it deletes the tree' }) } };
  const { results, events } = await playLoop(
    scriptedModel([calls(call('bash')), submit(), submit(), says('x'), says('y')]),
    {
      tools: [bash],
      hooks: [guard],
    },
  );
  expect(runs).toBe(0);
  expect(results[0]).toMatchObject({ ok: false, content: 'no-rm refuses: it deletes the tree' });
  expect(events.find((event) => event.type === 'hook.refused')).toMatchObject({ hook: 'no-rm', point: 'tool.before' });
});

test('R-LOOP-15: a replaced call is checked again and keeps its id; a replaced outcome is what the model reads', async () => {
  const ran: unknown[] = [];
  const bash = tool('bash', {
    input: z.object({ command: z.string() }),
    run: (input) => `the key is ${122 + ran.push(input)}`,
  });
  const first = call('bash', { command: 'rm x' });
  const safer = {
    name: 'safer',
    at: {
      'tool.before': ({ call }: { call: { id: string } }) =>
        call.id === first.id ? { replace: { call: { ...first, id: 'other', input: { command: 'ls' } } } } : undefined,
      'tool.after': ({ call, outcome }: { call: typeof first; outcome: { text: string; ok: boolean } }) => ({
        replace: { call, outcome: { ...outcome, text: outcome.text.replace('123', '***') } },
      }),
    },
  };
  const { results } = await playLoop(scriptedModel([calls(first), submit()]), { tools: [bash], hooks: [safer] });
  expect(ran).toEqual([{ command: 'ls' }]);
  expect(results[0]).toMatchObject({ call_id: first.id, content: 'the key is ***' });
});

test('R-LOOP-16: each cycle begins and ends once, also when it ends the loop', async () => {
  const seen: string[] = [];
  const watch = {
    name: 'watch',
    at: {
      'cycle.started': ({ step }: { step: number }) => void seen.push(`+${step}`),
      'cycle.ended': ({ step }: { step: number }) => void seen.push(`-${step}`),
    },
  };
  await playLoop(scriptedModel([calls(call('read')), says(''), says('text'), submit()]), {
    tools: [tool('read')],
    hooks: [watch],
  });
  expect(seen).toEqual(['+1', '-1', '+2', '-2', '+3', '-3', '+4', '-4']);
});

test('R-LOOP-16: a hook may change what the model is shown without changing the transcript', async () => {
  const hint = {
    name: 'hint',
    at: {
      'model.before': (seen: { turns: readonly unknown[] }) => ({
        replace: { turns: [...seen.turns, { role: 'user', content: 'Hurry.' }], tools: [] },
      }),
    },
  };
  const model = scriptedModel([submit()]);
  const { turns } = await playLoop(model, { hooks: [hint as never] });
  expect(model.requests[0]?.turns.at(-1)?.content).toBe('Hurry.');
  expect(model.requests[0]?.tools).toEqual([]);
  expect(turns.some((turn) => turn.content === 'Hurry.')).toBe(false);
});

test('R-LOOP-17: an attempt goes on from its transcript, and nothing recorded is asked for again', async () => {
  const first = call('read', { path: 'a' });
  const script = [calls(first), calls(call('read', { path: 'b' })), submit()];
  const whole = await playLoop(scriptedModel(script), { tools: [tool('read')] });
  for (let kept = 0; kept <= whole.turns.length; kept += 1) {
    const transcript = whole.turns.slice(0, kept);
    const replies = transcript.filter((turn) => turn.role === 'assistant').length;
    const model = scriptedModel(script.slice(replies));
    const events: LoopEvent[] = [];
    const { outcome } = await playLoop(model, { tools: [tool('read')], transcript, events });
    expect(outcome).toMatchObject({ reason: 'submitted', steps: 3 });
    expect(model.requests).toHaveLength(3 - replies);
    const numbers = events.flatMap((event) => (event.type === 'turn.added' ? [event.turn] : []));
    expect(numbers[0] ?? kept).toBe(kept);
  }
});

test('R-LOOP-17: a call that was interrupted and may have had an effect is not repeated; the model is told', async () => {
  let runs = 0;
  const bash = tool('bash', { run: () => `${++runs}` });
  const look = tool('look', { concurrent: true, run: () => 'seen' });
  const lost = [call('look'), call('bash', { command: 'make' }), call('look', { n: 2 })];
  const transcript = [...opening, calls(...lost)];
  const { turns } = await playLoop(scriptedModel([submit()]), { tools: [bash, look], transcript });
  expect(runs).toBe(0);
  const results = readEvents([]).results.concat(turns.filter((turn) => turn.role === 'tool'));
  expect(results.map((turn) => [turn.call_id, turn.ok])).toEqual([
    [lost[1]?.id, false],
    [lost[0]?.id, true],
    [lost[2]?.id, true],
  ]);
  expect(results[0]?.content).toMatch(/^Interrupted: .*may have run/);
});

test('R-LOOP-17: an attempt that died after its last word costs no further call', async () => {
  const submitted = await playLoop(scriptedModel([]), { transcript: [...opening, submit('mended')] });
  expect(submitted.outcome).toMatchObject({ reason: 'submitted', result: { summary: 'mended' } });
  const answered = await playLoop(scriptedModel([]), {
    transcript: [...opening, says('It is 42.')],
    policy: { choice: 'default', maxSteps: 9, answers: true },
  });
  expect(answered.outcome).toMatchObject({ reason: 'answered', answer: 'It is 42.' });
});

test('R-LOOP-17: a plan that was written before the crash is not taken for the answer', async () => {
  const model = scriptedModel([says('It is 42.')]);
  const { outcome } = await playLoop(model, {
    transcript: [...opening, { role: 'user', content: nudges.plan }, says('I will think.')],
    policy: { choice: 'default', maxSteps: 9, answers: true, plans: true },
  });
  expect(outcome).toMatchObject({ answer: 'It is 42.', steps: 2 });
});

test('R-LOOP-17: steps of earlier attempts count', async () => {
  const transcript = [
    ...opening,
    calls(call('read')),
    { role: 'tool', call_id: `x`, name: 'read', content: '', ok: true } as const,
  ];
  const { outcome } = await playLoop(scriptedModel([]), {
    transcript,
    policy: { choice: 'default', maxSteps: 1 },
    tools: [tool('read')],
  });
  expect(outcome).toMatchObject({ reason: 'step_limit', steps: 1 });
});

test('R-LOOP-18 (A14): a conversation that cannot fit is not sent', async () => {
  const model = scriptedModel([]);
  const { outcome } = await playLoop(model, {
    opening: [opening[0], { role: 'user', content: '汉'.repeat(100_000) }] as never,
    limits: { window: 64_000 },
  });
  expect(outcome.reason).toBe('context_full');
  expect(model.requests).toEqual([]);
});

test('R-LOOP-18: old tool output goes when the window gets crowded; every request holds matched pairs', async () => {
  const model = endlessModel((step) => (step < 12 ? calls(call('read', { step })) : submit()));
  const read = tool('read', { run: (input) => `${JSON.stringify(input)} ${'x'.repeat(79).concat('\n').repeat(100)}` });
  const points: string[] = [];
  const watch = {
    name: 'w',
    at: { 'compact.before': () => void points.push('before'), 'compact.after': () => void points.push('after') },
  };
  const { outcome, results } = await playLoop(model, { tools: [read], hooks: [watch], limits: { window: 12_000 } });
  expect(outcome.reason).toBe('submitted');
  expect(points.slice(0, 2)).toEqual(['before', 'after']);
  for (const { turns } of model.requests) {
    const asked = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map((call) => call.id) : []));
    const answered = turns.flatMap((turn) => (turn.role === 'tool' ? [turn.call_id] : []));
    expect(answered).toEqual(asked);
  }
  const last = model.requests.at(-1)?.turns.filter((turn) => turn.role === 'tool') ?? [];
  expect(last[0]?.content).toMatch(/left out to make room/);
  expect(last.at(-1)?.content).toContain('xxx');
  expect(results[0]?.content).toContain('xxx');
});

test('R-LOOP-19: signs of life come with every turn, and before a model call that may be silent', async () => {
  const signs: (number | undefined)[] = [];
  await playLoop(scriptedModel([submit()]), {
    alive: (until) => void signs.push(until),
    limits: { replyBusyMs: 1000 },
  });
  expect(signs).toHaveLength(4);
  expect(signs[2]).toBeGreaterThan(Date.now() - 1);
});
