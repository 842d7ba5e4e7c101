import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killRun, mention, slow, stateOf } from '../helpers/finish-stage.ts';
import { mainFile } from '../helpers/npc-crew.ts';

test('R-CLI-14: without the state folder the comment is completed from the thread alone, once its time is over', {
  timeout: 90_000,
}, async () => {
  const { home, platform, build, ours } = await mention({ coder: [slow] });
  const past = new Date(Date.now() - 1000).toISOString();
  platform.configure({
    failStages: [
      (env, cwd) =>
        spawn('sh', ['-c', `rm -rf "$HOME/.local" && exec "${process.execPath}" "${mainFile}" finish`], {
          cwd,
          env: { PATH: process.env.PATH, HOME: home, ...env },
        }),
    ],
  });
  await killRun(build);
  const [comment] = ours();
  if (comment) comment.body = comment.body.replace(/until=\S+/, `until=${past}`);
  await build.done;
  expect(ours().map(stateOf)).toEqual(['final']);
});

test('R-CLI-14: finish waits for a run that is still at work', { timeout: 90_000 }, async () => {
  const { home, platform, build, ours } = await mention({ coder: [slow] });
  platform.configure({
    failStages: [
      (env, cwd) => {
        const [, state = ''] = /state in (\S+)/.exec(build.output) ?? [];
        const other = spawn('sleep', ['60']);
        const { pid = 0 } = other;
        const startTime = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21];
        const run = JSON.parse(readFileSync(join(state, 'run.json'), 'utf8'));
        writeFileSync(join(state, 'run.json'), JSON.stringify({ ...run, pid, start_time: startTime }));
        const finish = spawn(process.execPath, [mainFile, 'finish'], {
          cwd,
          env: { PATH: process.env.PATH, HOME: home, ...env },
        });
        finish.stderr.on('data', (said) => {
          if (String(said).includes('waiting for its end')) other.kill();
        });
        return finish;
      },
    ],
  });
  await killRun(build);
  await build.done;
  expect(build.output).toContain('waiting for its end');
  expect(build.output).toContain('the comment is complete now');
  expect(ours().map(stateOf)).toEqual(['final']);
});
