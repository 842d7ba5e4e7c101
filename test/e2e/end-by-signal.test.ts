import { expect, test } from 'vitest';
import type { Build } from '../../testing/cnb-server.ts';
import { fix, honest, type Stage, setStage, storyOf } from '../helpers/play.ts';
import { processesOf, until } from '../helpers/run-watch.ts';

/** A run whose coder waits for its model, with a shell command left in the background. */
async function runAtWork(): Promise<{ stage: Stage; build: Build }> {
  const [change = '', result] = fix;
  const stage = await setStage({ script: { ...honest, coder: [change, { ...Object(result), delay_ms: 60_000 }] } });
  const build = stage.ask();
  await until(() => stage.models.requests.some(({ role, step }) => role === 'coder' && step === 1));
  return { stage, build };
}

/** Ends the run and tells how that went. */
async function endBy(end: (pid: number) => void) {
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

test('R-E2E-42: SIGTERM ends a run with a final comment within 5 s, exit 143 and nothing left', async () => {
  expect(await endBy((pid) => process.kill(pid, 'SIGTERM'))).toBe(143);
});

test('R-E2E-42: a platform that ends the whole process group gets the same', async () => {
  expect(await endBy((pid) => process.kill(-pid, 'SIGTERM'))).toBe(143);
});

test('R-E2E-42: Ctrl-C ends a run with 130', async () => {
  expect(await endBy((pid) => process.kill(-pid, 'SIGINT'))).toBe(130);
});
