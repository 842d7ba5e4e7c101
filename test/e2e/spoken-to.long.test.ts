import { expect, test } from 'vitest';
import { fix, honest, setStage, slug, storyOf } from '../helpers/play.ts';
import { eventOf, processesOf, until } from '../helpers/run-watch.ts';

test('R-E2E-44: a later mention is listed with the words that steering is not there yet, and "@Agent stop" ends the run', async () => {
  const [change = '', result] = fix;
  const stage = await setStage({
    script: { ...honest, coder: [change, { ...Object(result), delay_ms: 60_000 }] },
    env: { NPC_MENTIONS_EVERY_MS: '1000' },
  });
  const build = stage.ask();
  await until(() => stage.models.requests.some(({ role, step }) => role === 'coder' && step === 1));
  const { number } = build.occasion.thread;
  const say = (body: string) => {
    stage.platform.comment({ slug, number, author: 'xiaoming', body: `${stage.mention} ${body}`, workMode: true });
    const own = stage.platform.builds.at(-1);
    if (own) stage.platform.cancel(own);
  };
  say('顺便把小数也处理一下');
  await eventOf(stage.state, 'mention.listed');
  say('停止');

  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }).toEqual({ exit: 0, comments: 1 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: null, cause: 'cancelled' }]);
  expect(comments[0]).toContain('### ⏹️ 已停止');
  expect(comments[0]).toContain('xiaoming 要求停止');
  expect(comments[0]).toContain('尚不支持中途调整');
  expect(comments[0]).toContain('顺便把小数也处理一下');
  expect(stage.platform.pulls(slug)).toEqual([]);
  expect(await processesOf(stage.state)).toEqual(new Map());
});

test('R-E2E-44: the build that a stop itself starts says nothing in the thread', async () => {
  const stage = await setStage({ script: honest });
  const { exit, comments, frames } = await storyOf(stage, stage.ask('stop'));
  expect({ exit, comments, frames }).toEqual({ exit: 0, comments: [], frames: [] });
});
