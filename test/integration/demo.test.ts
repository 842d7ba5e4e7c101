import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
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
