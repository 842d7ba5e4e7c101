import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fix, honest, setStage, slug, stackTrace, storyOf } from '../helpers/play.ts';
import { eventOf, processesOf, until } from '../helpers/run-watch.ts';

test('R-E2E-48: a damaged log is set aside before the run, which goes on and says so', async () => {
  const stage = await setStage({ script: honest });
  await mkdir(stage.state);
  await writeFile(join(stage.state, 'log.db'), 'SQLite format 3\0, or so it says'.repeat(500));
  const build = stage.ask();
  const { exit, comments } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }, build.output).toEqual({ exit: 0, comments: 1 });
  expect(comments[0]).toContain('log.db');
  expect((await readdir(stage.state)).filter((name) => name.startsWith('log.db.corrupt-'))).not.toEqual([]);
  expect(build.output).not.toMatch(stackTrace);
});

test('R-E2E-48: a log that is damaged while the run is down costs its memory, and neither the comment nor the work', async () => {
  const [change = '', result = ''] = fix;
  const coder = [change, { ...Object(result), delay_ms: 1_000 }];
  const stage = await setStage({ script: { ...honest, coder } });
  const build = stage.ask();
  const { pid: run } = await eventOf(stage.state, 'run.started');
  await until(() => stage.models.requests.some(({ role, step }) => role === 'coder' && step === 1));
  process.kill(run, 'SIGKILL');
  await expect.poll(() => existsSync(`/proc/${run}`), { interval: 5 }).toBe(false);
  // alone, the file would be mended from its write-ahead log
  for (const name of ['log.db', 'log.db-wal']) writeFileSync(join(stage.state, name), 'no database '.repeat(5_000));

  const { exit, comments } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }, build.output).toEqual({ exit: 0, comments: 1 });
  expect(comments[0]).toContain('### ✅ 已完成');
  expect(comments[0]).toContain('log.db');
  expect(stage.platform.pulls(slug)).toHaveLength(1);
  expect(await processesOf(stage.state)).toEqual(new Map());
});
