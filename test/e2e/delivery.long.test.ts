import { execa } from 'execa';
import { expect, test } from 'vitest';
import {
  bash,
  branchesOf,
  coderAlone,
  honest,
  priceTimes,
  setStage,
  shop,
  slug,
  storyOf,
  submit,
} from '../helpers/play.ts';

test('R-E2E-21: what only a command changed is in the pull request', async () => {
  const lock = 'npm install --package-lock-only --offline --ignore-scripts --no-audit --no-fund';
  const stage = await setStage({
    files: { ...shop, ...coderAlone },
    script: { ...honest, coder: [bash(`${priceTimes(2)} && ${lock}`), submit('价格乘以 2')] },
  });
  const { exit, comment } = await storyOf(stage, stage.ask());
  expect(exit).toBe(0);
  const [pull] = stage.platform.pulls(slug);
  const { stdout } = await execa('git', ['diff', '--name-only', 'main', pull?.headSha ?? ''], {
    cwd: stage.repository,
  });
  expect(stdout.split('\n')).toEqual(['package-lock.json', 'price.mjs']);
  expect(comment).toContain('`package-lock.json`');
});

test('R-E2E-23: a branch that moved meanwhile is not overwritten, and the comment says where the work lies', async () => {
  const stage = await setStage({
    files: { ...shop, ...coderAlone },
    script: {
      ...honest,
      coder: [bash(priceTimes(2)), submit('乘以 2')],
      judge: [{ text: 'complete [E1, E2]', delay_ms: 2_000 }],
    },
  });
  const build = await stage.askInPull('请让测试通过。', { files: { 'notes.md': '价格\n' } });
  while (!stage.models.requests.some(({ role }) => role === 'judge'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const moved = await stage.platform.commit({ slug, branch: 'topic', files: { 'other.md': '别人的\n' } });
  const { exit, cause, comment } = await storyOf(stage, build);
  expect({ exit, cause }).toEqual({ exit: 4, cause: 'push_rejected' });
  expect((await stage.platform.pull(slug, build.occasion.thread.number)).headSha).toBe(moved);
  const { wip } = await branchesOf(stage);
  expect(comment).toContain(`\`${wip}\``);
  expect(comment).toContain('运行期间 `topic` 上有了新的提交');
  expect(comment).toContain('再次提及我，在最新的提交上重做');
});
