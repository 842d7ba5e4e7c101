import { expect } from 'vitest';
import type { Build } from '../../testing/cnb-server.ts';
import { fix, honest, type Stage, setStage, storyOf } from './play.ts';
import { processesOf, until } from './run-watch.ts';

/** A run whose coder waits for its model, with a shell command left in the background. */
async function runAtWork(): Promise<{ stage: Stage; build: Build }> {
  const [change = '', result] = fix;
  const stage = await setStage({ script: { ...honest, coder: [change, { ...Object(result), delay_ms: 60_000 }] } });
  const build = stage.ask();
  await until(() => stage.models.requests.some(({ role, step }) => role === 'coder' && step === 1));
  return { stage, build };
}

/** Ends a run at work, holds it to its last words and to leaving nothing behind, and returns its exit code. */
export async function endBy(end: (pid: number) => void) {
  const { stage, build } = await runAtWork();
  const before = Date.now();
  end(build.child?.pid ?? 0);
  const { exit, comments, events } = await storyOf(stage, build);
  const thread = stage.platform.thread('team/web/shop', build.occasion.thread.number);
  const last = thread.comments.find(({ author }) => author.npc !== undefined)?.edits.at(-1);
  expect(comments).toHaveLength(1);
  expect(comments[0]).toContain('### ⏹️ 已停止');
  expect((last?.at ?? Number.POSITIVE_INFINITY) - before).toBeLessThan(5_000);
  expect(events('verdict.reached')).toMatchObject([{ cause: 'interrupted' }]);
  expect(await processesOf(stage.state)).toEqual(new Map());
  return exit;
}
