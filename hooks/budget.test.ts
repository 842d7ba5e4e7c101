import { expect, test } from 'vitest';
import { call, calls, endlessModel, playLoop, scriptedModel, submit, tool } from '../test/helpers/scripted-loop.ts';
import { budget } from './budget.ts';

const wrapUpTools = ['submit-result'];

test('R-LOOP-22: the model is told to converge, then left with the tools to wrap up', async () => {
  const model = endlessModel((step) => (step < 9 ? calls(call('look', { step })) : submit()));
  const look = tool('look', { run: (input) => JSON.stringify(input) });
  const { outcome, turns } = await playLoop(model, {
    tools: [look],
    hooks: [budget({ used: (step) => step / 10, wrapUpTools })],
  });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 10 });
  const last = model.requests.map(({ turns }) => turns.at(-1)?.content ?? '');
  expect(last[6]).not.toContain('%');
  expect(last[7]).toMatch(/^\[80 % .*Begin nothing new/);
  expect(last[8]).toMatch(/^\[90 % .*Hand in now/);
  expect(model.requests.map(({ tools }) => tools.length)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 1, 1]);
  expect(turns.some((turn) => turn.content.includes('% of what this task'))).toBe(false);
});

test('R-LOOP-22: a call of another tool is refused near the end', async () => {
  let runs = 0;
  const bash = tool('bash', { run: () => `${++runs}` });
  const { results } = await playLoop(scriptedModel([calls(call('bash')), submit()]), {
    tools: [bash],
    hooks: [budget({ used: () => 0.95, wrapUpTools })],
  });
  expect(runs).toBe(0);
  expect(results[0]?.content).toBe(
    'budget refuses: 95 % of the budget is used; only these tools are left: submit-result.',
  );
});
