import { execa } from 'execa';
import { expect, test } from 'vitest';
import { approve, bash, fix, honest, plan, priceTimes, setStage, slug, storyOf, submit } from '../helpers/play.ts';

test('R-E2E-20: without work mode a change is refused with the cure, and nothing is pushed', async () => {
  const stage = await setStage({ script: { architect: [plan] } });
  const { exit, cause, comment } = await storyOf(stage, stage.ask(undefined, { workMode: false }));
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'no_permission' });
  expect(comment).toContain('所以没有推送任何内容');
  expect(comment.match(/勾选“让它工作”/g)).toHaveLength(1);
  expect(await stage.platform.pushes(slug)).toEqual([]);
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
