import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, startCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const standIn = `${process.execPath} ${example('stand-in-coder.mjs')} {task} {result}`;
const goal =
  'In `src/cart.mjs` replace `find(({ threshold }) => amount > threshold)` with `findLast(({ threshold }) => amount >= threshold)`.';
const python = ['python3', '/usr/bin/python3'].find((name) => {
  try {
    execFileSync(name, ['-c', 'import websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** A hub of its own with a translator and a coder that joined by hand, and a run that finds them there. */
async function runThere(translator: readonly [string, ...string[]]): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'npc-hub-'));
  const { env: models } = await playDemo();
  const env = { HOME: home, ...models };
  const repo = join(home, 'shop');
  const git = await makeShop(repo);
  const hub = startCli(['hub', '--port', '0'], { env });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  const [url] = await hub.until(/ws:\/\/127\.0\.0\.1:\d+/);

  const [program, ...args] = translator;
  const stranger = spawn(program, [...args, url], { stdio: 'ignore' });
  onTestFinished(() => void stranger.kill('SIGKILL'));
  const coder = startCli(['agent', 'coder', '--name', 'my-coder', '--hub', url, '--exec', standIn], {
    env: { HOME: home },
  });
  onTestFinished(() => void coder.child.kill('SIGKILL'));
  await coder.until(/my-coder is on/);
  const there = async () => (await runCli(['agents', '--hub', url], { env })).stdout;
  await expect.poll(there, { timeout: 15_000 }).toMatch(/translator/);

  const flow = join(home, 'flow.json');
  const nodes = [
    {
      id: 'translate',
      target_agent: 'translator',
      payload: { goal: 'Say in English what is asked for.' },
      next: 'code',
    },
    { id: 'code', target_agent: 'coder' },
  ];
  await writeFile(flow, JSON.stringify(nodes));
  const { exit, stdout, stderr } = await runCli(['run', '--hub', url, '--goal', goal, '--repo', repo, '--flow', flow], {
    env,
  });
  expect({ exit }, stderr + stdout).toEqual({ exit: 0 });
  const branch = await git('branch', '--list', 'npc/goal-*', '--format=%(refname:short)');
  expect(await git('diff', '--name-only', `main...${branch}`)).toBe('src/cart.mjs');
  return (await runCli(['log', '--hub', url, '--type', 'task.assign', '--json'], { env })).stdout;
}

test('R-CLI-11, R-CLI-12: a run on somebody’s hub gives tasks to whoever is there and hands on what they say', {
  timeout: 60_000,
}, async () => {
  const log = await runThere([process.execPath, example('echo-agent.mjs')]);
  // the coder was given the translator's result
  expect(
    log
      .split('\n')
      .filter((line) => line.includes('"to":"role:coder"'))
      .join(),
  ).toContain('As translator I heard');
});

test.skipIf(python === undefined)(
  `R-CLI-11, R-CLI-12: a run gives a task to an agent in Python and uses its result${python ? '' : ' (skipped: no python3-websockets here)'}`,
  { timeout: 60_000 },
  async () => {
    expect(await runThere([python ?? '', example('echo_agent.py')])).toContain('As translator I heard');
  },
);
