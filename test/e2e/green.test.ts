import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { honest, setStage, slug, storyOf } from '../helpers/play.ts';
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
