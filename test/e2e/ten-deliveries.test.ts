import { expect, test } from 'vitest';
import { readMarker } from '../../coordinator/report/marker.ts';
import { honest, setStage, slug, storyOf } from '../helpers/play.ts';

/** One mention that starts ten builds at once. */
async function deliverTenTimes(lock: boolean) {
  const stage = await setStage({ script: honest, platform: { lock, endStages: [] } });
  stage.platform.deliverTimes(10);
  stage.ask();
  await stage.platform.settled();
  const stories = await Promise.all(stage.platform.builds.map((build) => storyOf(stage, build)));
  expect(stories.map(({ exit }) => exit)).toEqual(Array(10).fill(0));
  const working = stories.filter(({ frames }) => frames.some(({ type }) => type === 'task.assign'));
  expect(working).toHaveLength(1);
  expect(stage.models.requests.filter(({ role }) => role === 'architect')).toHaveLength(1);
  expect(stage.platform.pulls(slug)).toHaveLength(1);
  return { comments: stories[0]?.comments ?? [], builds: stage.platform.builds };
}

test('R-E2E-43: a mention delivered ten times is one run and one comment where the platform has a lock', async () => {
  const { comments, builds } = await deliverTenTimes(true);
  expect(comments).toHaveLength(1);
  expect(comments[0]).toContain('### ✅ 已完成');
  const silent = builds.filter(({ output }) => output.includes('nothing to do'));
  expect(silent).toHaveLength(9);
});

test('R-E2E-43: a mention delivered ten times is one run, and one-line pointers at most, where it has none', async () => {
  const { comments } = await deliverTenTimes(false);
  expect(comments[0]).toContain('### ✅ 已完成');
  for (const other of comments.slice(1)) {
    expect(readMarker(other)?.state).toBe('pointer');
    expect(other.split('\n').filter((line) => line !== '' && !line.startsWith('<!--'))).toHaveLength(1);
  }
});
