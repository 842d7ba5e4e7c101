import { execa } from 'execa';
import { expect, test } from 'vitest';
import { coderAlone, priceTimes, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

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

test('R-E2E-13: work that a coder leaves running is ended with its task, and the run is not green', async () => {
  // One go: work in the background in three ways, and a coder that insists on its result.
  const done = {
    name: 'submit-result',
    arguments: { status: 'success', summary: '改好了', artifacts: [], issues: [] },
  };
  const started = `${priceTimes(2)}; sleep 4321 & setsid sleep 4321 >/dev/null 2>&1 </dev/null & env -i setsid sleep 4322 >/dev/null 2>&1 </dev/null & echo started`;
  const go = { calls: [{ name: 'bash', arguments: { command: started } }, done, done, done] };
  const stage = await setStage({ files: alone, script: { coder: [go, go, go, go, go] } });
  const { exit, cause, comment, frames } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'left_running' });
  expect(comment).toMatch(/有进程被留在后台，已被终止，它们没有做完：\d+ sleep 4321.*; \d+ sleep 4322/);
  expect(frames.filter(({ type }) => type === 'task.result')).toHaveLength(5);
  const { stdout } = await execa('ps', ['-eo', 'args']);
  expect(stdout.split('\n').filter((line) => line.startsWith('sleep 432'))).toEqual([]);
  expect(stage.platform.pulls(slug)).toEqual([]);
});
