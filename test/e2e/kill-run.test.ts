import { expect, test } from 'vitest';
import { honest, setStage, slug, storyOf, submit } from '../helpers/play.ts';
import { eventOf, processesOf, rowOf, until } from '../helpers/run-watch.ts';

test('R-E2E-41: a run that is killed is taken up again: one comment, one pull request, no reply paid twice, no old agent left', async () => {
  const slow = {
    calls: [
      {
        name: 'bash',
        arguments: {
          command:
            "printf 'export const price = (amount) => amount * 2;\\n' > price.mjs; for i in $(seq 100); do echo $i >> ticks.txt; sleep 0.1; done",
        },
      },
    ],
  };
  const tidy = { calls: [{ name: 'bash', arguments: { command: 'rm ticks.txt; sleep 1; ls; npm test' } }] };
  const stage = await setStage({ script: { ...honest, coder: [slow, tidy, submit('price() 现在乘以 2')] } });
  const build = stage.ask();
  const { pid: run } = await eventOf(stage.state, 'run.started');
  const { pid: coder } = await eventOf(stage.state, 'agent.spawned', ({ role }) => role === 'coder');
  await until(async () => [...(await processesOf(stage.state)).values()].some((line) => line.includes('ticks.txt')));
  process.kill(run, 'SIGKILL');

  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }).toEqual({ exit: 0, comments: 1 });
  expect(stage.platform.pulls(slug)).toHaveLength(1);
  expect(events('run.started').map(({ resumed }) => resumed)).toEqual([false, true]);
  expect(events('agent.exited')).toContainEqual(expect.objectContaining({ pid: coder, signal: 'SIGKILL' }));
  expect(stage.models.requests.map(({ role, step, outcome }) => `${role} ${step} ${outcome}`)).toEqual([
    'architect 0 played',
    'coder 0 played',
    'coder 1 played',
    'coder 2 played',
    'reviewer 0 played',
    'verifier 0 played',
    'judge 0 played',
  ]);
  expect(await rowOf(stage.state, '.code')).toMatchObject({ state: 'done', attempt: 2 });
  // what the first coder's shell still wrote would have come back after `rm`
  expect(events('task.committed').flatMap(({ files }) => files)).toEqual(['price.mjs']);
  expect(await processesOf(stage.state)).toEqual(new Map());
});
