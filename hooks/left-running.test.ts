import { expect, test } from 'vitest';
import { playLoop, scriptedModel, submit } from '../test/helpers/scripted-loop.ts';
import { leftRunning } from './left-running.ts';

test('R-LOOP-23: a result is taken once what was started has ended', async () => {
  const alive = [['41 sleep 60', '42 server'], []];
  const { outcome, results } = await playLoop(scriptedModel([submit(), submit()]), {
    hooks: [leftRunning(() => alive.shift() ?? [])],
  });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 2 });
  expect(results[0]?.content).toMatch(/^left-running refuses: .*41 sleep 60; 42 server.*kill PID/);
});

test('R-LOOP-23: a role that will not end it cannot be held up for ever', async () => {
  const { outcome } = await playLoop(scriptedModel([submit(), submit(), submit()]), {
    hooks: [leftRunning(async () => ['41 sleep 60'])],
  });
  expect(outcome).toMatchObject({ reason: 'submitted', steps: 3 });
});
