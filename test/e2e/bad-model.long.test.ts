import { expect, test } from 'vitest';
import { honest, setStage, stackTrace, storyOf } from '../helpers/play.ts';

test.each([
  ['a key that is refused', 'auth', { type: 'status', status: 401, times: 'always' }, 'OPENAI_API_KEY'],
  ['a model that answers nothing', 'empty_reply', { type: 'empty', times: 'always' }, 'NPC_MODEL'],
] as const)('R-E2E-47: %s ends red / %s, and the comment says what to do', async (_what, cause, fault, cure) => {
  const stage = await setStage({ script: honest });
  stage.models.setFaults([{ fault }]);
  const build = stage.ask();
  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }, build.output).toEqual({ exit: 3, comments: 1 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'red', cause }]);
  expect(comments[0]).toContain(cure);
  expect(build.output).not.toMatch(stackTrace);
});

test('R-E2E-47: a judge that cannot be asked is told as the model service it is', async () => {
  const stage = await setStage({ script: honest });
  stage.models.setFaults([{ role: 'judge', fault: { type: 'status', status: 400, times: 'always' } }]);
  const build = stage.ask();
  const { exit, events } = await storyOf(stage, build);
  expect(exit, build.output).toBe(3);
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'red', cause: 'upstream_error' }]);
});

test.each([
  ['no model is named', { NPC_MODEL: '' }, 'NPC_MODEL'],
  ['the address of the model is none', { OPENAI_BASE_URL: 'nowhere' }, 'OPENAI_BASE_URL'],
  [
    'there is no key for a far model',
    { OPENAI_BASE_URL: 'https://model.invalid/v1', OPENAI_API_KEY: '' },
    'OPENAI_API_KEY',
  ],
])('R-E2E-47: where %s the run is misconfigured, and the comment names the variable', async (_what, env, name) => {
  const stage = await setStage({ script: honest, env });
  const build = stage.ask();
  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }, build.output).toEqual({ exit: 3, comments: 1 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'red', cause: 'misconfigured' }]);
  expect(comments[0]).toContain(name);
  expect(build.output).not.toMatch(stackTrace);
});
