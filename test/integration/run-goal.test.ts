import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { startModelServer } from '../../testing/model-server.ts';
import { readScript } from '../../testing/script.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';

const run = promisify(execFile);
const demo = fileURLToPath(new URL('../../cli/demo', import.meta.url));
const goal = '修复满减优惠的问题';

let home: string;
let repo: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'npc-run-'));
  repo = join(home, 'shop');
  await cp(join(demo, 'assets/shop'), repo, { recursive: true });
  await git('init', '-q', '-b', 'main');
  await git('config', 'user.name', 'Shop');
  await git('config', 'user.email', 'shop@example.invalid');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'A small shop');
});

async function git(...args: string[]): Promise<string> {
  return (await run('git', ['-C', repo, ...args])).stdout.trim();
}

/** The environment of a run whose models play the demo's script, with these changes. */
async function scripted(changes: Record<string, unknown> = {}): Promise<Record<string, string>> {
  const script = { ...(await readScript(join(demo, 'script.json'))), ...changes };
  const models = await startModelServer({ script: script as Awaited<ReturnType<typeof readScript>> });
  onTestFinished(() => models.close());
  return { HOME: home, OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted' };
}

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
  const before = await git('rev-parse', 'HEAD');
  const { exit, stdout, stderr } = await runCli(['run', '--goal', goal, '--repo', repo], { env: await scripted() });
  expect({ exit }, stderr + stdout).toEqual({ exit: 0 });
  expect(stdout).toContain('npm test');
  expect(stdout).toContain('notes.txt');
  const branch = await git('branch', '--list', 'npc/goal-*', '--format=%(refname:short)');
  expect(branch).toMatch(/^npc\/goal-[0-9a-f]{8}$/);
  expect(await git('diff', '--name-only', `main...${branch}`)).toBe('src/cart.mjs\ntest/cart.test.mjs');
  expect([await git('rev-parse', 'HEAD'), await git('status', '--porcelain')]).toEqual([before, '?? notes.txt']);

  const [, key = ''] = /run ([0-9a-f]{16})/.exec(stderr) ?? [];
  const folder = join(home, '.local', 'state', 'npc-crew', key);
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

test('R-CLI-12: without a model the run says which variable is missing and ends with exit 3', async () => {
  const { exit, stderr, stdout } = await runCli(['run', '--goal', goal, '--repo', repo], { env: { HOME: home } });
  expect(stdout + stderr).toContain('NPC_MODEL');
  expect(exit).toBe(3);
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
  const slow = { name: 'bash', arguments: { command: 'echo started; sleep 300' } };
  const env = await scripted({ coder: [{ calls: [slow] }] });
  const cli = startCli(['run', '--goal', goal, '--repo', repo], { env });
  await cli.until(/working +attempt 1 +coder-1/);
  await expect.poll(() => processesWith('sleep 300'), { timeout: 20_000 }).not.toEqual([]);
  cli.child.kill('SIGINT');
  const started = performance.now();
  const { exit, stderr } = await cli.result;
  expect({ exit }, stderr).toEqual({ exit: 130 });
  expect(performance.now() - started).toBeLessThan(6000);
  expect(await processesWith('sleep 300')).toEqual([]);
  expect(await processesWith(home)).toEqual([]);
});
