import { expect, test } from 'vitest';
import { fix, honest, setStage, storyOf } from '../helpers/play.ts';
import { eventOf, rowOf, until } from '../helpers/run-watch.ts';

test('R-E2E-40: a coder that is killed in the middle of its task goes on where it stood, at the price of one request', async () => {
  const [change, result] = fix;
  const stage = await setStage({
    script: { ...honest, coder: [change ?? '', { ...Object(result), delay_ms: 1_500 }] },
  });
  const build = stage.ask();
  const asked = () => stage.models.requests.filter(({ role }) => role === 'coder');
  const { pid } = await eventOf(stage.state, 'agent.spawned', ({ role }) => role === 'coder');
  await until(() => asked().length === 2);
  process.kill(pid, 'SIGKILL');

  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }).toEqual({ exit: 0, comments: 1 });
  expect(events('agent.exited')).toContainEqual(expect.objectContaining({ pid, signal: 'SIGKILL' }));
  expect(asked().map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(['0 played', '1 aborted', '1 played']);
  expect(await rowOf(stage.state, '.code')).toMatchObject({ state: 'done', attempt: 2 });
});
