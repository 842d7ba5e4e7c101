import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { honest, setStage, slug, storyOf } from '../helpers/play.ts';

test('R-E2E-41: a run that is killed the moment its comment stands, and again the moment its pull request does, makes neither twice', async () => {
  const stage = await setStage({ script: honest });
  const build = stage.ask();
  const kill = async (): Promise<void> => {
    const { pid } = JSON.parse(await readFile(join(stage.state, 'run.json'), 'utf8'));
    process.kill(pid, 'SIGKILL');
  };
  const ours = () => build.occasion.thread.comments.filter(({ author }) => author.npc !== undefined);
  await expect.poll(() => ours().length, { interval: 2, timeout: 40_000 }).toBe(1);
  await kill();
  await expect.poll(() => stage.platform.pulls(slug).length, { interval: 2, timeout: 40_000 }).toBe(1);
  await kill();

  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }, build.output).toEqual({ exit: 0, comments: 1 });
  expect(comments[0]).toContain('### ✅ 已完成');
  expect(stage.platform.pulls(slug)).toHaveLength(1);
  expect(events('run.started')).toHaveLength(3);
});
