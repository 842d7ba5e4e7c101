import { execa } from 'execa';
import { expect, test } from 'vitest';
import {
  approve,
  bash,
  branchesOf,
  coderAlone,
  fix,
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

test('R-E2E-20: without work mode a question is answered', async () => {
  const answer = '`price.mjs:1` 原样返回金额，没有乘以 2。';
  const stage = await setStage({
    script: { architect: [submit('回答', { artifacts: [{ kind: 'text', title: 'answer', text: answer }] })] },
  });
  const { exit, comment } = await storyOf(stage, stage.ask('price() 做什么？', { workMode: false }));
  expect(exit).toBe(0);
  expect(comment).toContain('### ✅ 已回答');
  expect(comment).toContain(answer);
  expect(await stage.platform.pushes(slug)).toEqual([]);
});

test('R-E2E-22: a user’s own branch gets one push, of the final commit', async () => {
  const objection = { severity: 'blocking', message: '没有处理负数', path: 'price.mjs', line: 1 };
  const stage = await setStage({
    script: {
      ...honest,
      coder: [bash(priceTimes(3)), submit('乘以 3'), ...fix],
      reviewer: [submit('有异议', { issues: [objection] }), approve],
    },
  });
  const build = await stage.askInPull('请让测试通过。', { files: { 'notes.md': '价格\n' } });
  const { exit, comment } = await storyOf(stage, build);
  expect(exit).toBe(0);
  const { number } = build.occasion.thread;
  const pull = await stage.platform.pull(slug, number);
  const pushes = await stage.platform.pushes(slug);
  const own = pushes.filter(({ ref }) => ref === 'refs/heads/topic');
  expect(own).toMatchObject([{ after: pull.headSha }]);
  const parents = await execa('git', ['log', '--format=%H', `${own[0]?.before}..${pull.headSha}`], {
    cwd: stage.repository,
  });
  expect(parents.stdout.split('\n')).toHaveLength(1);
  const others = pushes.filter(({ ref }) => ref !== 'refs/heads/topic');
  expect(new Set(others.map(({ ref }) => ref.replace(/-[0-9a-f]{8}$/, '')))).toEqual(
    new Set([`refs/heads/npc/wip/pr-${number}`]),
  );
  expect(others.filter(({ options }) => options.includes('ci.skip')).length).toBeGreaterThanOrEqual(2);
  expect(stage.platform.pulls(slug)).toHaveLength(1);
  expect(comment).toContain('`topic`');
});
