import { expect, test } from 'vitest';
import { coderAlone, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

const alone = { ...shop, ...coderAlone };

test('R-E2E-10: a coder that only claims ends red, and the comment says what was not done', async () => {
  const claim = '我已经把 price() 改好了，测试全部通过。';
  const stage = await setStage({ files: alone, script: { coder: [claim, claim, submit(claim)] } });
  const { exit, cause, comment, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'no_change' });
  expect(comment).toContain('### ❌ 未完成');
  expect(comment).toContain('没有任何文件被改动，请求没有完成');
  expect(comment).toContain(`执行者的说法：${claim}`);
  expect(comment).toContain('没有运行任何命令');
  expect(events('work.returned')).toHaveLength(1);
  expect(await stage.platform.pushes(slug)).toEqual([]);
  expect(stage.platform.pulls(slug)).toEqual([]);
});
