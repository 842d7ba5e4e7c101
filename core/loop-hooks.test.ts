import { expect, test } from 'vitest';
import { call, calls, playLoop, says, scriptedModel, submit, tool } from '../test/helpers/scripted-loop.ts';
import type { Hook } from './hook.ts';
import type { ToolContext } from './tool.ts';

test('R-LOOP-15: a submit hook may replace the result', async () => {
  const shorten: Hook = {
    name: 'shorten',
    at: {
      'submit.before': ({ result }) => ({ replace: { result: { ...result, summary: result.summary.slice(0, 4) } } }),
    },
  };
  const { outcome } = await playLoop(scriptedModel([submit('mended it all')]), { hooks: [shorten] });
  expect(outcome).toMatchObject({ reason: 'submitted', message: 'mend', result: { summary: 'mend' } });
});

test('R-LOOP-15: a reply that a hook replaced is the one that is logged and acted on', async () => {
  let runs = 0;
  const bash = tool('bash', { run: () => `${++runs}` });
  const onlyText: Hook = {
    name: 'only-text',
    at: { 'model.after': ({ reply }) => ({ replace: { reply: { ...reply, content: 'nothing', calls: [] } } }) },
  };
  const { outcome, turns } = await playLoop(scriptedModel([calls(call('bash'))]), {
    tools: [bash],
    hooks: [onlyText],
    policy: { choice: 'default', maxSteps: 9, answers: true },
  });
  expect(outcome).toMatchObject({ reason: 'answered', answer: 'nothing' });
  expect(turns.at(-1)).toMatchObject({ role: 'assistant', calls: [] });
  expect(runs).toBe(0);
});

test('R-LOOP-15: a call that a hook made unusable is told to the model', async () => {
  const rename: Hook = {
    name: 'rename',
    at: {
      'tool.before': ({ call }) =>
        call.name === 'bash' ? { replace: { call: { ...call, name: 'gone' } } } : undefined,
    },
  };
  const first = call('bash');
  const { results } = await playLoop(scriptedModel([calls(first), submit()]), {
    tools: [tool('bash')],
    hooks: [rename],
  });
  expect(results[0]).toMatchObject({ call_id: first.id, ok: false });
  expect(results[0]?.content).toContain('There is no tool "gone"');
});

test('R-LOOP-15: one call of a batch may be refused while its neighbours run', async () => {
  const look = tool('look', { concurrent: true, run: (input) => `saw ${(input as { n: number }).n}` });
  const picky: Hook = {
    name: 'picky',
    at: { 'tool.before': ({ call }) => (call.input.n === 2 ? { refuse: 'not that one' } : undefined) },
  };
  const batch = [1, 2, 3].map((n) => call('look', { n }));
  const { results } = await playLoop(scriptedModel([calls(...batch), submit()]), { tools: [look], hooks: [picky] });
  expect(results.map((turn) => [turn.call_id, turn.content, turn.ok])).toEqual([
    [batch[0]?.id, 'saw 1', true],
    [batch[1]?.id, 'picky refuses: not that one', false],
    [batch[2]?.id, 'saw 3', true],
  ]);
});

test('R-LOOP-16: a hook that throws at every point does not change how a task ends', async () => {
  const fail = () => {
    throw new Error('broken hook');
  };
  const points = ['cycle.started', 'cycle.ended', 'state.changed', 'model.before', 'model.after'] as const;
  const more = ['tool.before', 'tool.after', 'compact.before', 'compact.after', 'submit.before'] as const;
  const broken: Hook = { name: 'broken', at: Object.fromEntries([...points, ...more].map((point) => [point, fail])) };
  const look = tool('look', { run: () => 'x'.repeat(1500) });
  const { outcome, events } = await playLoop(
    scriptedModel([...Array.from({ length: 6 }, (_, n) => calls(call('look', { n }))), submit()]),
    { tools: [look], hooks: [broken], limits: { window: 2400 } },
  );
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 7 });
  const failed = new Set(events.flatMap((event) => (event.type === 'hook.failed' ? [event.point] : [])));
  expect([...failed].sort()).toEqual([...points, ...more].sort());
});

test('R-LOOP-16: state changes are shown in the order of the table', async () => {
  const seen: string[] = [];
  const watch: Hook = { name: 'watch', at: { 'state.changed': ({ from, to }) => void seen.push(`${from}>${to}`) } };
  await playLoop(scriptedModel([says('done?'), submit()]), { hooks: [watch] });
  expect(seen).toEqual([
    ...['idle>parsing_goal', 'parsing_goal>executing', 'executing>summarizing', 'summarizing>executing'],
    ...['executing>observing', 'observing>done'],
  ]);
});

test('R-LOOP-3: a tool gets its place, its environment, its host, and a memory that lasts for the task', async () => {
  const seen: ToolContext[] = [];
  const count = tool('count', {
    run: (_, context) => {
      seen.push(context);
      const times = Number(context.memo.get('times') ?? 0) + 1;
      context.memo.set('times', times);
      return `${times}`;
    },
  });
  const model = scriptedModel([
    calls(call('count', { n: 1 }), call('count', { n: 2 })),
    calls(call('count', { n: 3 })),
    submit(),
  ]);
  const { results } = await playLoop(model, { tools: [count] });
  expect(results.map((turn) => turn.content)).toEqual(['1', '2', '3']);
  expect(seen[0]).toMatchObject({ cwd: '/nowhere', env: {} });
  expect(await seen[0]?.host.ask('?')).toBe('yes');
});

test('R-LOOP-19: what a model says while it speaks is passed on', async () => {
  const deltas: unknown[] = [];
  const speaking = {
    reply: async (_request: unknown, _signal: unknown, onDelta?: (delta: { kind: 'text'; text: string }) => void) => {
      onDelta?.({ kind: 'text', text: 'so' });
      return submit();
    },
  };
  await playLoop(speaking, { onDelta: (delta) => void deltas.push(delta) });
  expect(deltas).toEqual([{ kind: 'text', text: 'so' }]);
});

test('R-LOOP-2: a planning reply may call tools at once, and an empty one does not stop the work', async () => {
  const policy = { choice: 'default', maxSteps: 9, plans: true } as const;
  const acting = await playLoop(scriptedModel([calls(call('look')), submit()]), { tools: [tool('look')], policy });
  expect(acting.states).toEqual(['parsing_goal', 'planning', 'observing', 'executing', 'observing', 'done']);
  const empty = await playLoop(scriptedModel([says(''), submit()]), { policy });
  expect(empty.states).toEqual(['parsing_goal', 'planning', 'executing', 'observing', 'done']);
});
