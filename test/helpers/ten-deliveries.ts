import { expect } from 'vitest';
import { honest, setStage, slug, storyOf } from './play.ts';

/** One mention that starts ten builds at once. */
export async function deliverTenTimes(lock: boolean) {
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
