import { expect, test } from 'vitest';
import { call, calls, endlessModel, playLoop, scriptedModel, submit, tool } from '../test/helpers/scripted-loop.ts';
import { nudges } from './nudges.ts';

test('R-LOOP-14: two calls in turn are stopped within ten, also when both change files', async () => {
  const flip = tool('edit', { run: () => ({ text: 'edited a.ts', ok: true, filesTouched: ['a.ts'] }) });
  const model = endlessModel((step) => calls(call('edit', { path: 'a.ts', to: step % 2 === 0 ? 'x' : 'y' })));
  const { outcome } = await playLoop(model, { tools: [flip] });
  expect(outcome).toMatchObject({ reason: 'no_progress', steps: 8 });
});

test('R-LOOP-14: an edit that keeps failing the same way on one file is stopped, whatever it tries', async () => {
  const edit = tool('edit', {
    run: () => {
      throw new Error('the old text is not in a.ts; line 12 comes closest');
    },
  });
  const read = tool('read', { concurrent: true, run: (input) => JSON.stringify(input) });
  const model = endlessModel((step) =>
    step % 2 === 0
      ? calls(call('edit', { path: 'a.ts', old: `try ${step}` }))
      : calls(call('read', { path: 'a.ts', offset: step })),
  );
  const { outcome, results } = await playLoop(model, { tools: [edit, read] });
  expect(outcome).toMatchObject({ reason: 'no_progress', steps: 15 });
  expect(results[4]?.content).toContain(nudges.repeated(3));
});

test('R-LOOP-14: tests that are run again after each change are work, not a circle', async () => {
  const edit = tool('edit', { run: () => ({ text: 'ok', ok: true, filesTouched: ['a.ts'] }) });
  const bash = tool('bash', { run: () => ({ text: '1 failed', ok: false, exit: 1 }) });
  const model = endlessModel((step) => {
    if (step === 24) return submit();
    return step % 2 === 0
      ? calls(call('edit', { path: 'a.ts', old: `${step}` }))
      : calls(call('bash', { command: 'npm test' }));
  });
  const { outcome, results } = await playLoop(model, { tools: [edit, bash] });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 25 });
  expect(results.some((turn) => turn.content.includes('the same as before'))).toBe(false);
});

test('R-LOOP-14: many checks that all succeed in silence are work, not a circle', async () => {
  const bash = tool('bash', { run: () => ({ text: '(no output)\n[exit 0]', ok: true, exit: 0 }) });
  const model = endlessModel((step) => (step === 20 ? submit() : calls(call('bash', { command: `test -f ${step}` }))));
  const { outcome } = await playLoop(model, { tools: [bash] });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 21 });
});

test('R-LOOP-14: a loop over arguments that the tool ignores is told by its results', async () => {
  const bash = tool('bash', { run: () => ({ text: 'noop\n[exit 0]', ok: true, exit: 0 }) });
  const model = endlessModel((step) => calls(call('bash', { command: `echo noop # ${step}` })));
  const { outcome } = await playLoop(model, { tools: [bash] });
  expect(outcome).toMatchObject({ reason: 'no_progress', steps: 8 });
});

test('R-LOOP-14: calls that are not there are stopped too', async () => {
  const { outcome } = await playLoop(endlessModel((step) => calls(call('gone', { step }))));
  expect(outcome).toMatchObject({ reason: 'no_progress', steps: 8 });
});

test('R-LOOP-14: a stop in the middle of a batch ends there', async () => {
  let later = 0;
  const look = tool('look', { run: () => 'same' });
  const write = tool('write', { run: () => `${++later}` });
  const batch = [...Array.from({ length: 8 }, () => call('look', { at: 1 })), call('write')];
  const { outcome, results } = await playLoop(scriptedModel([calls(...batch)]), { tools: [look, write] });
  expect(outcome.reason).toBe('no_progress');
  expect(results).toHaveLength(8);
  expect(later).toBe(0);
});

test('R-LOOP-2: second thoughts come after the nudge, once for each repetition, and work goes on', async () => {
  const repeat = () => calls(call('look', { at: 1 }));
  const model = scriptedModel([repeat(), repeat(), repeat(), calls(call('look', { at: 2 })), submit()]);
  const { outcome, states } = await playLoop(model, {
    tools: [tool('look', { run: (input) => JSON.stringify(input) })],
    policy: { choice: 'default', maxSteps: 9, reflects: true },
  });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 5 });
  expect(states.filter((state) => state === 'reflecting')).toHaveLength(1);
  expect(states.slice(states.indexOf('reflecting'))).toEqual([
    'reflecting',
    'observing',
    'executing',
    'observing',
    'done',
  ]);
});
