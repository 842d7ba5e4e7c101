import { expect, test } from 'vitest';
import { fix, honest, setStage, storyOf } from '../helpers/play.ts';

test('R-E2E-2: an objection goes back word for word, and the second patch is judged by its own gates', async () => {
  const objection = '只改了一半：金额为 0 时没有测试。';
  const wrong = {
    calls: [
      { name: 'bash', arguments: { command: "printf 'export const price = (amount) => amount + 2;\\n' > price.mjs" } },
    ],
  };
  const object = {
    status: 'success',
    summary: '有异议',
    artifacts: [],
    issues: [{ severity: 'blocking', message: objection, path: 'price.mjs', line: 1 }],
  };
  const stage = await setStage({
    script: {
      ...honest,
      coder: [wrong, fix[1] ?? '', ...fix],
      reviewer: [{ calls: [{ name: 'submit-result', arguments: object }] }, ...honest.reviewer],
    },
  });
  const build = stage.ask();
  const { exit, comments, events, frames } = await storyOf(stage, build);
  expect(exit).toBe(0);
  expect(events('work.returned')).toMatchObject([{ node: 'code', by: 'reviewer', count: 1 }]);
  const again = frames.find((frame) => frame.type === 'task.assign' && frame.task_id.endsWith('.code.r1'));
  expect(JSON.stringify(again?.payload)).toContain(objection);
  expect(comments[0]).toContain(objection);
});
