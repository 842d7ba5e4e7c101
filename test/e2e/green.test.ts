import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { fix, honest, setStage, slug, storyOf } from '../helpers/play.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

test('R-E2E-1: a mention becomes a tested branch, a pull request, and one comment', async () => {
  const stage = await setStage({ script: honest });
  const build = stage.ask();
  const { exit, comments, events } = await storyOf(stage, build);
  expect(build.output).toContain('npc-crew');
  expect({ exit, comments: comments.length }).toEqual({ exit: 0, comments: 1 });
  expect(comments[0]).toContain('### ✅ 已完成');

  const [pull] = stage.platform.pulls(slug);
  const { headSha, head } = await stage.platform.pull(slug, pull?.number ?? '');
  const gates = events('gate.finished').map(({ gate }) => gate);
  expect(gates.at(-1)).toMatchObject({ command: 'npm test', exit: 0, sha: headSha });

  const clone = join(await tempFolder(), 'clone');
  await execa('git', ['clone', '-q', '-b', head.branch, stage.repository, clone]);
  expect((await execa('npm', ['test'], { cwd: clone })).exitCode).toBe(0);
});

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
