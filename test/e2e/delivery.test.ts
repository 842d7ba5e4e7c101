import { expect, test } from 'vitest';
import { plan, setStage, slug, storyOf } from '../helpers/play.ts';

test('R-E2E-20: without work mode a change is refused with the cure, and nothing is pushed', async () => {
  const stage = await setStage({ script: { architect: [plan] } });
  const { exit, cause, comment } = await storyOf(stage, stage.ask(undefined, { workMode: false }));
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'no_permission' });
  expect(comment).toContain('所以没有推送任何内容');
  expect(comment.match(/勾选“让它工作”/g)).toHaveLength(1);
  expect(await stage.platform.pushes(slug)).toEqual([]);
});
