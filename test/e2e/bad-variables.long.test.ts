import { expect, test } from 'vitest';
import { honest, setStage, stackTrace, storyOf } from '../helpers/play.ts';

/** The story of a mention whose build has these variables changed. */
async function mention(env: Readonly<Record<string, string>>, request?: string) {
  const stage = await setStage({ script: honest, env, platform: { failStages: [], endStages: [] } });
  const build = stage.ask(request);
  const story = await storyOf(stage, build);
  expect(stage.models.requests).toEqual([]);
  expect(build.output).not.toMatch(stackTrace);
  return { ...story, lines: build.output.trim().split('\n') };
}

test('R-E2E-45: missing variables are named in one line, and the exit code is 2', async () => {
  const { exit, comments, lines } = await mention({ CNB_TOKEN: '', CNB_NPC_NAME: '', CNB_ISSUE_IID: '' });
  expect({ exit, comments, lines: lines.length }).toEqual({ exit: 2, comments: [], lines: 1 });
  expect(lines[0]).toMatch(/CNB_TOKEN, CNB_NPC_NAME, CNB_ISSUE_IID/);
});

test('R-E2E-45: variables that contradict each other are misconfigured, in the comment too', async () => {
  const { exit, comments, events } = await mention({ CNB_PULL_REQUEST_IID: '9' });
  expect({ exit, comments: comments.length }).toEqual({ exit: 3, comments: 1 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'red', cause: 'misconfigured' }]);
  expect(comments[0]).toContain('CNB_PULL_REQUEST_IID');
});

test('R-E2E-45: a mention without a request needs input, and the comment asks for it', async () => {
  const { exit, comments, events } = await mention({}, '');
  expect({ exit, comments: comments.length }).toEqual({ exit: 4, comments: 1 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'partial', cause: 'needs_input' }]);
  expect(comments[0]).toContain('请在提及之后写明要做什么');
});

test.each([
  ['an event that is no mention', { CNB_EVENT: 'push' }],
  ['a mention that we wrote ourselves', { CNB_BUILD_USER_NPC_NAME: 'Agent', CNB_BUILD_USER_NPC_SLUG: 'team/npc-crew' }],
  [
    "somebody else's mention",
    { CNB_COMMENT_BODY: '@other/bots(Agent) fix it', CNB_NPC_TRIGGER_CONTENT: '@other/bots(Agent) fix it' },
  ],
])('R-E2E-45: %s is not for us: one line, exit 0, no comment', async (_what, env) => {
  const { exit, comments, lines } = await mention(env);
  expect({ exit, comments, lines: lines.length }).toEqual({ exit: 0, comments: [], lines: 1 });
  expect(lines[0]).toContain('nothing to do');
});
