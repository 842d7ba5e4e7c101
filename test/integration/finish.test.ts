import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killRun, mention, slow, soon, stateOf } from '../helpers/finish-stage.ts';
import { processesOf } from '../helpers/run-watch.ts';

test('R-CLI-14: a run that died leaves a final comment all the same, one in all, with what happened', {
  timeout: 90_000,
}, async () => {
  const { build, ours } = await mention({ coder: [slow] });
  await killRun(build);
  await build.done;
  expect(ours().map(stateOf)).toEqual(['final']);
  expect(ours()[0]?.body).toContain('crashed');
  expect(build.output).toContain('the comment is complete now');
  expect(build.output).toContain('nothing to finish: the comment is final');
});

test('R-CLI-14: a cancelled build is told as interrupted', { timeout: 90_000 }, async () => {
  const { platform, build, ours } = await mention({ coder: [slow] });
  // only endStages are told that it was cancelled
  platform.configure({ failStages: [] });
  await expect.poll(() => build.output, soon).toMatch(/working +attempt 1 +coder-1/);
  platform.cancel(build);
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body).toContain('interrupted');
});

test('R-CLI-14: a run whose supervisor was killed ends in order by itself', {
  timeout: 90_000,
}, async () => {
  const { build, ours } = await mention({ coder: [slow] });
  await expect.poll(() => build.output, soon).toMatch(/working +attempt 1 +coder-1/);
  const [, state = ''] = /state in (\S+)/.exec(build.output) ?? [];
  process.kill(build.child?.pid ?? 0, 'SIGKILL');
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body).toContain('interrupted');
  expect(build.output).toContain('nothing to finish: the comment is final');
  await expect.poll(() => processesOf(state), soon).toEqual(new Map());
});

test('R-CLI-14: a run that was ended as it began is told as interrupted', { timeout: 90_000 }, async () => {
  const { build, ours } = await mention({});
  const children = async () => {
    const pid = build.child?.pid;
    return pid === undefined ? '' : readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  };
  await expect.poll(children, { ...soon, interval: 1 }).not.toBe('');
  build.child?.kill('SIGTERM');
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body, build.output).toContain('interrupted');
});

test('R-CLI-3: a state folder that cannot be used is told in the comment', { timeout: 90_000 }, async () => {
  const home = await mkdtemp(join(tmpdir(), 'npc-finish-'));
  await writeFile(join(home, 'file'), '');
  const { build, ours } = await mention({}, { HOME: home, NPC_STATE_DIR: join(home, 'file', 'below') });
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body).toContain('misconfigured');
  expect(ours()[0]?.body).toContain('--state DIR');
  expect(build.exitCode).toBe(3);
  expect(build.output).not.toContain('a fault of its own');
});
