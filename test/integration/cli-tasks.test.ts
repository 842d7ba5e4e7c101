import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testHome } from '../helpers/cli-stage.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';

test('R-CLI-24: tasks shows those of a state, and one of them with its timeline', async () => {
  const { home, env } = await testHome();
  const file = join(home, 'run.jsonl');
  const said = [
    ['task.assign', 'boss', 'role:coder', 'k.code', 0, { goal: '修复' }],
    ['task.assign', 'boss', 'role:reviewer', 'k.review', 0, { goal: 'look' }],
    ['task.accept', 'coder-1', 'boss', 'k.code', 1200, null],
    ['task.event', 'coder-1', 'hub', 'k.code', 2000, { event: { type: 'noted' } }],
    ['task.event', 'coder-1', 'hub', 'k.code', 3000, { event: { type: 'noted' } }],
    ['task.result', 'coder-1', 'boss', 'k.code', 6200, { status: 'success', summary: '改好了' }],
  ] as const;
  const frames = said.map(([type, from, to, task_id, at, payload], index) => ({
    ...{ type, from, to, task_id, payload, lsn: index + 1, ts: 1_000_000 + at },
    ...(type !== 'task.assign' && { attempt: 1 }),
  }));
  await writeFile(file, frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
  const tasks = (...args: string[]) => runCli(['tasks', '--file', file, ...args], { env });
  const [done, pending, none, wrong, one, unknown] = await Promise.all([
    tasks('--status', 'done', '--json'),
    tasks('--state', 'pending,running', '--json'),
    tasks('--status', 'failed'),
    tasks('--status', 'lazy'),
    tasks('code'),
    tasks('cod'),
  ]);
  expect(done.stdout).toMatch(/^\{"task_id":"k\.code".*\n$/);
  expect(pending.stdout).toMatch(/^\{"task_id":"k\.review".*\n$/);
  expect(none.stdout).toBe('no task is failed\n');
  expect(wrong).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/--status lazy: no task is ever that; it is one of pending/),
  });
  expect(one.stdout.split('\n')).toEqual([
    expect.stringMatching(/^TASK +STATE/),
    expect.stringMatching(/^k\.code +done +1 +coder-1 +6s +改好了$/),
    '',
    expect.stringMatching(/^..:..:.. {12}boss → role:coder {2}task\.assign {2}修复$/),
    expect.stringMatching(/^..:..:.. {5}\+1\.2s {2}coder-1 → boss {2}task\.accept #1$/),
    `${' '.repeat(20)}2 events of the work`,
    expect.stringMatching(/^..:..:.. {5}\+5\.0s {2}coder-1 → boss {2}task\.result #1 {2}success: 改好了$/),
    '',
  ]);
  expect(unknown).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('there is no task cod; the nearest are: k.code'),
  });
});

test('R-CLI-24: on a replay nothing is told to be done, and the replay is named', async () => {
  const { home, env } = await testHome();
  const file = join(home, 'run.jsonl');
  const frame = { type: 'task.assign', from: 'boss', to: 'role:coder', task_id: 'k.code', payload: { goal: 'g' } };
  await writeFile(file, `${JSON.stringify({ ...frame, lsn: 1, ts: 1_000_000 })}\n`);
  const replay = startCli(['log', '--replay', file], { env });
  onTestFinished(() => void replay.child.kill('SIGKILL'));
  const [url] = await replay.until(/ws:\/\/127\.0\.0\.1:\d+/);
  const { stdout } = await runCli(['tasks', '--stuck', '--hub', url], { env });
  expect(stdout).toContain('the log that is replayed ends before it was over');
  expect(stdout).toContain(
    `nothing can be done here, ${url} is a replay; look at it: npc-crew log --story k.code --hub ${url}`,
  );
  const { stderr } = await runCli(['tasks', 'cancel', 'k.code', '--hub', url], { env });
  expect(stderr).toContain('this is a replay');
  expect(stderr).not.toContain('--as');
});
