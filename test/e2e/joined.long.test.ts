import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Envelope } from '../../protocol/index.ts';
import { startModelServer } from '../../testing/model-server.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';
import { honest, shop } from '../helpers/play.ts';
import { until } from '../helpers/run-watch.ts';
import { tempFolder, tempRepository } from '../helpers/temp-repository.ts';

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const goal = 'In `price.mjs` replace `=> amount;` with `=> amount * 2;`.';

/** A hub that somebody started, with these programs on it. */
async function startHubWith(env: Record<string, string>, join1: (url: string) => void, names: readonly string[]) {
  const hub = startCli(['hub', '--port', '0'], { env });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  const [url] = await hub.until(/ws:\/\/127\.0\.0\.1:\d+/);
  join1(url);
  const read = async (command: string): Promise<string> =>
    (await runCli([command, '--hub', url, '--json'], { env })).stdout;
  await until(async () => {
    const here = await read('agents');
    return names.every((name) => here.includes(`"${name}"`));
  });
  return {
    url,
    frames: async () =>
      (await read('log'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Envelope),
  };
}

function start(program: string, ...args: string[]): void {
  const child = spawn(program, args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
}

/** A run on somebody's hub, whose flow begins with a translator; what the hub's log says of it. */
async function translateAndCode(env: Record<string, string>, url: string) {
  const repository = await tempRepository(shop);
  const models = await startModelServer({ script: honest });
  onTestFinished(() => models.close());
  const flow = ['--flow', example('flow-with-translator.json')];
  const { exit, stdout, stderr } = await runCli(
    ['run', '--hub', url, ...flow, '--repo', repository.path, '--goal', goal, '--json'],
    { env: { ...env, OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted' } },
  );
  expect({ exit }, stderr + stdout).toEqual({ exit: 0 });
  const { branch, verdict } = JSON.parse(stdout) as { branch: string; verdict: string };
  expect(verdict).toBe('green');
  expect(await repository.git('show', `${branch}:price.mjs`)).toContain('amount * 2');
  return models.requests.map(({ role }) => role);
}

/** The result that a role handed in, and what the coder was told. */
function toldBy(frames: readonly Envelope[], name: string) {
  const of = (type: string, ending: string) =>
    frames.find((frame) => frame.type === type && frame.task_id.endsWith(ending));
  expect(of('task.result', '.translate')?.from).toBe(name);
  return JSON.stringify(of('task.assign', '.code')?.payload);
}

test('R-E2E-49: agents that joined by hand, one of 40 lines and one another program, get their tasks from a run on that hub', async () => {
  const env = { HOME: await tempFolder() };
  const exec = `${process.execPath} ${example('stand-in-coder.mjs')} {task} {result}`;
  const hub = await startHubWith(
    env,
    (url) => {
      start(process.execPath, example('echo-agent.mjs'), url);
      const coder = startCli(['agent', 'coder', '--name', 'my-coder', '--hub', url, '--exec', exec], { env });
      onTestFinished(() => void coder.child.kill('SIGKILL'));
    },
    ['translator-1', 'my-coder'],
  );
  const asked = await translateAndCode(env, hub.url);
  expect(asked).toEqual(['reviewer', 'verifier', 'judge']);
  const frames = await hub.frames();
  expect(toldBy(frames, 'translator-1')).toContain('As translator I heard');
  expect(frames.find(({ type, task_id }) => type === 'task.result' && task_id.endsWith('.code'))?.from).toBe(
    'my-coder',
  );
});

const python = ['python3', '/usr/bin/python3'].find((program) => {
  try {
    execFileSync(program, ['-c', 'import websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

test.skipIf(python === undefined)(
  `R-E2E-49: an agent in Python does the same${python ? '' : ' (skipped: no python3-websockets here)'}`,
  async () => {
    const env = { HOME: await tempFolder() };
    const hub = await startHubWith(env, (url) => start(python ?? '', example('echo_agent.py'), url), ['translator-py']);
    expect(await translateAndCode(env, hub.url)).toEqual(['coder', 'coder', 'reviewer', 'verifier', 'judge']);
    expect(toldBy(await hub.frames(), 'translator-py')).toContain('As translator I heard');
  },
);
