import { expect, test } from 'vitest';
import { setStage, storyOf } from '../helpers/play.ts';

const noKey = { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' };

test('R-E2E-70: where the endpoint of many models refuses, the plain one is asked, whose calls come as text', async () => {
  const result = {
    status: 'success',
    summary: 'x',
    issues: [],
    artifacts: [{ kind: 'text', title: 'answer', text: '返回金额' }],
  };
  const call = `<tool_call>\n${JSON.stringify({ name: 'submit-result', arguments: result })}\n</tool_call>`;
  const stage = await setStage({
    script: {},
    env: { ...noKey, NPC_MODEL: '' },
    // the prompt holds the tools where the endpoint takes none
    platform: { platformModel: ({ tools }) => (tools === undefined ? { text: call } : undefined) },
  });
  const { exit, comments } = await storyOf(stage, stage.ask('price 是做什么的？'));
  expect(exit).toBe(0);
  expect(comments[0]).toContain('返回金额');
});

test('R-E2E-70: a model that the platform does not have ends the run as misconfigured, by its name', async () => {
  const env = { ...noKey, NPC_MODEL: 'gpt-none' };
  const stage = await setStage({ script: {}, env, platform: { platformModel: () => undefined } });
  const build = stage.ask('price 是做什么的？');
  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit }, build.output).toEqual({ exit: 3 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'red', cause: 'misconfigured' }]);
  expect(comments[0]).toMatch(/NPC_MODEL/);
  expect(comments[0]).toContain('gpt-none');
});
