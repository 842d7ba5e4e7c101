import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { runExternalAgent } from '../../agents/external/index.ts';
import { silentLog } from '../../base/log.ts';
import { startHub } from '../../hub/index.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';
import { Flow, type FrameOf, TaskResultPayload } from '../../protocol/index.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const soon = { timeout: 15_000, interval: 10 };

async function hub(token?: string): Promise<{ url: string; boss: HubClient }> {
  const secured = token === undefined ? {} : ({ auth: 'required', token } as const);
  const running = await startHub({ port: 0, database: ':memory:', log: silentLog(), ...secured });
  cleanups.push(() => running.close());
  const boss = await connectHub({ url: running.url, name: 'boss', log: silentLog(), token });
  cleanups.push(() => boss.close());
  return { url: running.url, boss };
}

function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { stderr: () => string; exit: Promise<unknown> } {
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  const exit = once(child, 'exit').then(([code]) => code);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  cleanups.push(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  return { stderr: () => stderr, exit };
}

/** Gives two tasks to the role, one after the other, and returns their results. */
async function giveTwo(boss: HubClient, role: string): Promise<FrameOf<'task.result'>[]> {
  const results: FrameOf<'task.result'>[] = [];
  boss.on('task.result', (frame) => {
    results.push(frame);
  });
  for (const id of ['t1', 't2']) {
    const payload = { goal: `翻译 ${id}` };
    await boss.send({ type: 'task.assign', to: `role:${role}`, task_id: id, payload });
    await expect.poll(() => results.at(-1)?.task_id, soon).toBe(id);
  }
  return results;
}

async function joins(boss: HubClient, agent: ReturnType<typeof start>, name: string): Promise<void> {
  const here = async () => ((await boss.agents()).some((row) => row.name === name) ? 'here' : agent.stderr());
  await expect.poll(here, soon).toBe('here');
}

test('R-CLIENT-61: the agent in JavaScript has under 40 lines, joins as a translator and answers its tasks', async () => {
  expect((await readFile(example('echo-agent.mjs'), 'utf8')).split('\n').length).toBeLessThan(41);
  const { url, boss } = await hub();
  const agent = start(process.execPath, [example('echo-agent.mjs'), url]);
  await joins(boss, agent, 'translator-1');
  const results = await giveTwo(boss, 'translator');
  expect(results.map(({ payload }) => payload)).toMatchObject([
    { status: 'success', summary: 'As translator I heard: 翻译 t1', artifacts: [{ kind: 'text', text: '翻译 t1' }] },
    { status: 'success', summary: 'As translator I heard: 翻译 t2' },
  ]);
});

test('R-CLIENT-61: a token that the agent in JavaScript finds in NPC_HUB_TOKEN lets it in, and without one it says why it is not', async () => {
  const { url, boss } = await hub('a-token-of-this-hub');
  const run = (env: Record<string, string>) => start(process.execPath, [example('echo-agent.mjs'), url], env);
  await joins(boss, run({ NPC_HUB_TOKEN: 'a-token-of-this-hub' }), 'translator-1');
  const stranger = run({});
  await stranger.exit;
  expect(stranger.stderr()).toContain('401');
});

test('R-CLIENT-61: without a hub the agent in JavaScript says so and ends', async () => {
  const agent = start(process.execPath, [example('echo-agent.mjs'), 'ws://127.0.0.1:9']);
  await agent.exit;
  expect(agent.stderr()).toContain('ECONNREFUSED');
});

/** The Python that has the websockets package: Debian's, where a newer one stands before it in the path. */
function pythonWithWebsockets(): string | undefined {
  return ['python3', '/usr/bin/python3'].find((python) => {
    try {
      execFileSync(python, ['-c', 'import websockets'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

const python = pythonWithWebsockets();

test.skipIf(python === undefined)(
  `R-CLIENT-62: the agent in Python joins as a translator and answers its tasks${python ? '' : ' (skipped: no python3-websockets here)'}`,
  async () => {
    const { url, boss } = await hub('a-token-of-this-hub');
    const agent = start(python as string, [example('echo_agent.py'), url], { NPC_HUB_TOKEN: 'a-token-of-this-hub' });
    await joins(boss, agent, 'translator-py');
    const results = await giveTwo(boss, 'translator');
    expect(results.map(({ payload }) => payload.summary)).toEqual([
      'As translator I heard: 翻译 t1',
      'As translator I heard: 翻译 t2',
    ]);
  },
);

test('R-CLIENT-63: the stand-in coding program reads its task, edits the tree and writes a result', async () => {
  const tree = await mkdtemp(join(tmpdir(), 'stand-in-'));
  cleanups.push(() => rm(tree, { recursive: true }));
  const [task, result] = [join(tree, 'task.md'), join(tree, 'result.json')];
  const run = async (goal: string) => {
    await writeFile(task, `# Task\n\n${goal}\n`);
    execFileSync(example('stand-in-coder.mjs'), [task, result], { cwd: tree });
    return TaskResultPayload.parse(JSON.parse(await readFile(result, 'utf8')));
  };
  await writeFile(join(tree, 'sum.js'), 'export const sum = (a, b) => a - b;\n');
  expect(await run('In `sum.js` replace `a - b` with `a + b`.')).toMatchObject({
    status: 'success',
    artifacts: [{ kind: 'file', path: 'sum.js' }],
  });
  expect(await readFile(join(tree, 'sum.js'), 'utf8')).toBe('export const sum = (a, b) => a + b;\n');
  expect(await run('In `sum.js` replace `a * b` with `a + b`.')).toMatchObject({ status: 'failed' });
  expect(await run('Make it nicer.')).toMatchObject({ status: 'failed', issues: [{ severity: 'blocking' }] });
});

test('R-CLIENT-63: the stand-in coding program plays the coder on a hub', async () => {
  const tree = await mkdtemp(join(tmpdir(), 'stand-in-'));
  cleanups.push(() => rm(tree, { recursive: true }));
  await writeFile(join(tree, 'sum.js'), 'export const sum = (a, b) => a - b;\n');
  const { url, boss } = await hub();
  const client = await connectHub({ url, name: 'coder-1', roles: ['coder'], log: silentLog() });
  cleanups.push(() => client.close());
  const exec = `${example('stand-in-coder.mjs')} {task} {result}`;
  const env = { PATH: process.env.PATH ?? '' };
  cleanups.push(runExternalAgent({ client, role: 'coder', exec, env, cwd: tree }));
  const result = new Promise<TaskResultPayload>((resolve) => {
    boss.on('task.result', ({ payload }) => resolve(payload));
  });
  const payload = { goal: 'In `sum.js` replace `a - b` with `a + b`.', options: { tree } };
  await boss.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload });
  expect(await result).toMatchObject({ status: 'success', summary: 'Replaced text in sum.js.' });
  expect(await readFile(join(tree, 'sum.js'), 'utf8')).toContain('a + b');
});

test('R-CLIENT-63: the example flow is one, and names the role of the example agents', async () => {
  const flow = Flow.parse(JSON.parse(await readFile(example('flow-with-translator.json'), 'utf8')));
  expect(flow[0]).toMatchObject({ target_agent: 'translator', next: 'code' });
});
