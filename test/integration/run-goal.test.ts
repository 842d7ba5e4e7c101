import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { goal, goalStage } from '../helpers/goal-run.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';

const run = promisify(execFile);
let home: string;
let repo: string;
let git: Awaited<ReturnType<typeof goalStage>>['git'];
let scripted: Awaited<ReturnType<typeof goalStage>>['scripted'];

beforeEach(async () => {
  ({ home, repo, git, scripted } = await goalStage());
});

/** Processes whose command line holds `text`. */
async function processesWith(text: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'pid,stat,args']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(text) && !/^\s*\d+ Z/.test(line) && !line.includes('ps -eo'));
}

test('R-CLI-12: a goal ends on a local branch whose tests pass, with the report on stdout and nothing else changed', {
  timeout: 90_000,
}, async () => {
  await writeFile(join(repo, 'notes.txt'), 'mine');
  await writeFile(join(repo, 'README.md'), 'staged\n');
  await git('add', 'README.md');
  const before = await git('rev-parse', 'HEAD');
  const { exit, stdout, stderr } = await runCli(['run', '--goal', goal, '--repo', repo], { env: await scripted() });
  expect({ exit }, stderr + stdout).toEqual({ exit: 0 });
  expect(stdout).toContain('npm test');
  expect(stdout).toContain('notes.txt');
  expect(stdout).toContain('README.md');
  const branch = await git('branch', '--list', 'npc/goal-*', '--format=%(refname:short)');
  expect(branch).toMatch(/^npc\/goal-[0-9a-f]{8}$/);
  expect(await git('diff', '--name-only', `main...${branch}`)).toBe('src/cart.mjs\ntest/cart.test.mjs');
  expect([await git('rev-parse', 'HEAD'), await git('status', '--porcelain')]).toEqual([
    before,
    'M  README.md\n?? notes.txt',
  ]);

  const [, key = ''] = /run ([0-9a-f]{16})/.exec(stderr) ?? [];
  const folder = join(home, '.local', 'state', 'npc-crew', key);
  expect(stderr).toContain(`npc-crew log --state ${folder}\n`);
  expect(stderr).toContain(`git diff main...${branch}\n`);
  expect(JSON.parse(await readFile(join(folder, 'run.json'), 'utf8'))).toMatchObject({ run_key: key, goal });
  expect((await stat(join(folder, 'run.json'))).mode & 0o777).toBe(0o600);
  expect((await runCli(['report'], { env: { HOME: home } })).stdout).toContain(key);
});

test('R-CLI-12: with --json the verdict is one line, and red ends with exit 3', { timeout: 60_000 }, async () => {
  const claim = {
    name: 'submit-result',
    arguments: { status: 'success', summary: '都改好了。', artifacts: [], issues: [] },
  };
  const env = await scripted({ coder: Array.from({ length: 8 }, () => ({ calls: [claim] })) });
  const { exit, stdout } = await runCli(['run', '--json', '--goal', goal, '--repo', repo], { env });
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'red', exit: 3, branch: null });
  expect(exit).toBe(3);
});

test('R-CLI-12: a goal without the variables of a model, or with a flow that cannot be read, is wrong usage, and nothing is started', async () => {
  const ask = (env: Record<string, string>, ...more: string[]) =>
    runCli(['run', '--goal', goal, '--repo', repo, ...more], { env: { HOME: home, ...env } });
  const bare = await ask({});
  expect(bare).toMatchObject({ exit: 2, stdout: '' });
  expect(bare.stderr).toMatch(/^npc-crew: .*NPC_MODEL.*OPENAI_API_KEY.*\n$/);
  const flow = await ask(await scripted(), '--flow', '/nowhere.json');
  expect(flow).toMatchObject({ exit: 2, stderr: expect.stringMatching(/^npc-crew: --flow: cannot read .*\n$/) });
  await mkdir(join(repo, '.npc'));
  await writeFile(join(repo, '.npc', 'config.yml'), 'model: some-model\n');
  const named = await ask({});
  expect(named).toMatchObject({ exit: 2, stderr: expect.stringMatching(/^npc-crew: .*OPENAI_API_KEY.*\n$/) });
  expect(named.stderr).not.toContain('NPC_MODEL');
  expect(existsSync(join(home, '.local'))).toBe(false);
});

test('R-CLI-12: an empty goal needs input: exit 4', async () => {
  expect(await runCli(['run', '--goal', ' ', '--repo', repo], { env: { HOME: home } })).toMatchObject({ exit: 4 });
});

test.each([
  ['[{"id":"a","target_agent":"nobody"}]', 'nobody'],
  ['[{"id":"a","target_agent":"coder","next":"b"},{"id":"b","target_agent":"coder","next":"a"}]', 'a'],
  ['no json', 'flow.json'],
])('R-CLI-12: a flow that cannot be followed is misconfigured: exit 3, %s', async (text, word) => {
  const flow = join(home, 'flow.json');
  await writeFile(flow, text);
  const { exit, stdout } = await runCli(['run', '--goal', goal, '--repo', repo, '--flow', flow], {
    env: await scripted(),
  });
  expect(stdout).toContain(word);
  expect(exit).toBe(3);
});

test('R-CLI-4, R-CLI-5: Ctrl-C in the middle of a task ends the run with exit 130 and leaves no process', {
  timeout: 60_000,
}, async () => {
  // a text that no other process of this machine has
  const pause = `sleep 300.${process.pid}`;
  const slow = { name: 'bash', arguments: { command: `echo started; ${pause}` } };
  const env = await scripted({ coder: [{ calls: [slow] }] });
  const cli = startCli(['run', '--goal', goal, '--repo', repo], { env });
  await cli.until(/working +attempt 1 +coder-1/);
  await expect.poll(() => processesWith(pause), { timeout: 20_000 }).not.toEqual([]);
  cli.child.kill('SIGINT');
  const started = performance.now();
  const { exit, stderr } = await cli.result;
  expect({ exit }, stderr).toEqual({ exit: 130 });
  expect(performance.now() - started).toBeLessThan(6000);
  expect(await processesWith(pause)).toEqual([]);
  expect(await processesWith(home)).toEqual([]);
});
