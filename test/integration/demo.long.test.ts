import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/npc-crew.ts';

const run = promisify(execFile);

test('R-CLI-14, R-CLI-15: the demo ends green with one comment and a pull request whose tests pass in a fresh clone', {
  timeout: 90_000,
}, async () => {
  const home = await mkdtemp(join(tmpdir(), 'npc-demo-'));
  const env = { HOME: home };
  const { exit, stdout, stderr } = await runCli(['demo', '--json'], { env });
  expect({ exit, lines: stdout.trim().split('\n').length }, stderr).toEqual({ exit: 0, lines: 1 });
  const outcome = JSON.parse(stdout);
  const keys =
    'verdict cause comment_count pr_number branch head_sha tests_run messages seconds first_comment_ms state_dir clone_url';
  expect(Object.keys(outcome)).toEqual(keys.split(' '));
  expect(outcome).toMatchObject({ verdict: 'green', cause: null, comment_count: 1 });
  expect(outcome.seconds).toBeLessThan(60);
  expect(outcome.first_comment_ms).toBeLessThan(10_000);
  expect(stderr).toContain('nothing to finish: the comment is final');
  expect(outcome.tests_run.at(-1)).toEqual({ command: 'npm test', exit: 0, sha: outcome.head_sha });

  const log = await runCli(['log', '--json', '--state', outcome.state_dir], { env });
  expect(log.stdout.trim().split('\n')).toHaveLength(outcome.messages);
  expect(log.stdout).toContain('"type":"work.returned"');
  const report = await runCli(['report', '--state', outcome.state_dir], { env });
  expect(report.stdout).toMatch(/^run [0-9a-f]{16}: green/);

  const clone = join(home, 'clone');
  await run('git', ['clone', '-q', '-b', outcome.branch, outcome.clone_url, clone]);
  const head = await run('git', ['-C', clone, 'rev-parse', 'HEAD']);
  expect(head.stdout.trim()).toBe(outcome.head_sha);
  await run('npm', ['test'], { cwd: clone });
});

test('R-CLI-15: a repository named relative to the current folder is found; one that git cannot clone ends the demo with its reason', {
  timeout: 60_000,
}, async () => {
  const home = await mkdtemp(join(tmpdir(), 'npc-demo-'));
  const options = { env: { HOME: home }, cwd: home };
  await run('git', ['init', '-q', join(home, 'mine')]);
  await run('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first'], {
    cwd: join(home, 'mine'),
  });
  await writeFile(join(home, 'script.json'), '{}');
  const started = await runCli(['demo', '--repo', 'mine', '--script', 'script.json'], options);
  expect(started.stderr).toContain('xiaoming mentions the agent');

  await rm(join(home, 'mine', '.git', 'objects'), { recursive: true });
  await mkdir(join(home, 'mine', '.git', 'objects'));
  const { exit, stderr } = await runCli(['demo', '--repo', 'mine'], options);
  expect({ exit, lines: stderr.trim().split('\n').length }, stderr).toEqual({ exit: 2, lines: 1 });
  expect(stderr).toMatch(/^npc-crew: .*\/mine: .*fatal: /);
  expect(await runCli(['demo', '--repo', 'nowhere'], options)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(join(home, 'nowhere')),
  });
});
