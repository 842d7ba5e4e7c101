import { expect, test } from 'vitest';
import type { PlatformModel } from '../../testing/cnb/api-models.ts';
import { setStage, storyOf } from '../helpers/play.ts';

const noKey = { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', NPC_MODEL: '' };
const answer = {
  ...{ status: 'success', summary: '它把金额乘以一。', issues: [] },
  artifacts: [{ kind: 'text', title: 'answer', text: '`price.mjs` 返回原来的金额。' }],
};
const submitted = JSON.stringify(answer);

test('R-E2E-70: without a key a run uses the platform’s models, and its comment says what they took', async () => {
  const asked: string[] = [];
  const platformModel: PlatformModel = ({ model }) => {
    asked.push(model);
    // the first name of the list is gone
    return asked.length === 1 ? undefined : { calls: [{ name: 'submit-result', arguments: submitted }] };
  };
  const stage = await setStage({ script: {}, env: noKey, platform: { platformModel } });
  const build = stage.ask('price 是做什么的？');
  const { exit, comments } = await storyOf(stage, build);
  expect({ exit }, build.output).toEqual({ exit: 0 });
  expect(comments[0]).toContain('返回原来的金额');
  expect(comments[0]).toContain('消耗 AI 额度 0.25');
  expect(build.output).toContain('CNB 平台的模型');
  expect(new Set(asked).size).toBe(2);
});
