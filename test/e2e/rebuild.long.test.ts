import { expect, test } from 'vitest';
import { honest, setStage, slug, storyOf } from '../helpers/play.ts';

test('R-E2E-51: a rebuild of a run that ended red takes its comment over and does the work', async () => {
  const stage = await setStage({ script: honest });
  stage.models.setFaults([{ fault: { type: 'status', status: 401, times: 'always' } }]);
  const first = stage.ask();
  expect((await storyOf(stage, first)).exit).toBe(3);

  stage.models.setFaults([]);
  const [rebuild = first] = stage.platform.deliver(first, { isRetry: true });
  const { exit, comments } = await storyOf(stage, rebuild);
  expect({ exit, comments: comments.length }, rebuild.output).toEqual({ exit: 0, comments: 1 });
  expect(comments[0]).toContain('### ✅ 已完成');
  expect(stage.platform.pulls(slug)).toHaveLength(1);

  const [again = first] = stage.platform.deliver(first, { isRetry: true });
  const story = await storyOf(stage, again);
  expect({ exit: story.exit, comments: story.comments }).toEqual({ exit: 0, comments });
});
