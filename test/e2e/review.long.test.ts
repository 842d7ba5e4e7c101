import { expect, test } from 'vitest';
import { plan, setStage, slug, storyOf, submit } from '../helpers/play.ts';

const route = submit('交给评审', { artifacts: [{ kind: 'text', title: 'route', text: 'review' }] });
const files = { 'price.mjs': 'export const price = (amount) => amount * 3;\n' };

test('R-E2E-30: a review that was asked for is posted at its lines', async () => {
  const remark = { severity: 'blocking', message: '应该乘以 2，而不是 3', path: 'price.mjs', line: 1 };
  const general = { severity: 'note', message: '没有说明文档' };
  const stage = await setStage({
    script: { architect: [route], reviewer: [submit('有一处错误。', { issues: [remark, general] })] },
  });
  const build = await stage.askInPull('请评审这个合并请求。', { files });
  const { exit, comment } = await storyOf(stage, build);
  expect(exit).toBe(0);
  const { reviews } = await stage.platform.pull(slug, build.occasion.thread.number);
  expect(reviews.flatMap(({ comments }) => comments)).toMatchObject([
    { path: 'price.mjs', startLine: 1, endLine: 1, side: 'right', body: remark.message },
  ]);
  expect(comment).toContain('### ✅ 已评审');
  expect(comment).toContain('有一处错误。');
  expect(comment).toContain('代码行上：1 条');
  expect(comment).toContain(general.message);
  expect(await stage.platform.pushes(slug)).toEqual([]);
});

test('R-E2E-31: in a pull request from a fork a change is refused in words, and nothing is pushed', async () => {
  const stage = await setStage({ script: { architect: [plan] } });
  const fork = 'xiaoming/shop';
  const build = await stage.askInPull('请让测试通过。', { files, fork });
  const { exit, cause, comment } = await storyOf(stage, build);
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'no_permission' });
  expect(comment).toContain(`复刻仓库 ${fork}`);
  expect(comment).toContain('把分支推送到本仓库');
  expect([...(await stage.platform.pushes(slug)), ...(await stage.platform.pushes(fork))]).toEqual([]);
});
