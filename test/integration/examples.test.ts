import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { runExternalAgent } from '../../agents/external/index.ts';
import { silentLog } from '../../base/log.ts';
import { startHub } from '../../hub/index.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';
import { Flow, type FrameOf, TaskResultPayload } from '../../protocol/index.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const soon = { timeout: 15_000, interval: 10 };

async function hub(token?: string, hostNames: readonly string[] = []): Promise<{ url: string; boss: HubClient }> {
  const secured = token === undefined ? {} : ({ auth: 'required', token } as const);
  const running = await startHub({ port: 0, database: ':memory:', log: silentLog(), hostNames, ...secured });
  cleanups.push(() => running.close());
  const boss = await connectHub({ url: running.url, name: 'boss', log: silentLog(), token });
  cleanups.push(() => boss.close());
  return { url: running.url, boss };
}

function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { child: ChildProcess; stderr: () => string; exit: Promise<unknown> } {
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
  return { child, stderr: () => stderr, exit };
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
const javascript = { in: 'JavaScript', program: process.execPath, file: 'echo-agent.mjs', name: 'translator-1' };
const languages = [
  { ...javascript, id: 'R-CLIENT-61', pause: 'await new Promise((resolve) => setTimeout(resolve, 500));' },
  {
    ...{ in: 'Python', program: python, file: 'echo_agent.py', name: 'translator-py', id: 'R-CLIENT-62' },
    pause: 'await asyncio.sleep(0.5)',
  },
];

describe.each(languages)('the agent in $in', ({ in: language, program = '', file, name, id, pause }) => {
  const skipped = program === '' ? ' (skipped: no python3-websockets here)' : '';
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    start(program, [example(file), ...args], env);

  test.skipIf(skipped)(
    `${id}: the agent in ${language} joins as a translator and answers its tasks${skipped}`,
    async () => {
      const { url, boss } = await hub('a-token-of-this-hub');
      await joins(boss, run([url], { NPC_HUB_TOKEN: 'a-token-of-this-hub' }), name);
      const results = await giveTwo(boss, 'translator');
      expect(results.map(({ payload }) => payload)).toMatchObject([
        {
          status: 'success',
          summary: 'As translator I heard: 翻译 t1',
          artifacts: [{ kind: 'text', text: '翻译 t1' }],
        },
        { status: 'success', summary: 'As translator I heard: 翻译 t2' },
      ]);
    },
  );

  test.skipIf(skipped)(
    `${id}: the agent in ${language} comes back to its session after a lost connection, and brings the result that it made meanwhile${skipped}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'slow-agent-'));
      cleanups.push(() => rm(folder, { recursive: true }));
      await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
      const text = await readFile(example(file), 'utf8');
      const slow = text.replace(/^( *)(const )?artifacts = /m, (line, space: string) => `${space}${pause}\n${line}`);
      await writeFile(join(folder, file), slow);
      const proxy = await startTcpProxy();
      cleanups.push(() => proxy.close());
      const { url, boss } = await hub(undefined, [`127.0.0.1:${proxy.port}`]);
      proxy.target = Number(new URL(url).port);
      const agent = start(program, [join(folder, file), proxy.url]);
      await joins(boss, agent, name);
      const result = new Promise<FrameOf<'task.result'>>((resolve) => boss.on('task.result', resolve));
      const told: string[] = [];
      boss.on('task.status', ({ payload }) => void told.push(payload.sub_state));
      await boss.send({ type: 'task.assign', to: 'role:translator', task_id: 't0', payload: { goal: '翻译' } });
      await expect.poll(async () => (await boss.tasks())[0]?.sub_state, soon).toBe('working');
      proxy.block();
      proxy.cut();
      await expect.poll(() => agent.stderr(), soon).toMatch(/trying again/);
      await sleep(600);
      proxy.open();
      expect(await result).toMatchObject({ attempt: 1, payload: { summary: 'As translator I heard: 翻译' } });
      await expect.poll(() => agent.stderr(), soon).toMatch(/is on the hub as translator \(recovered\)/);
      expect(told).not.toContain('queued');
      await giveTwo(boss, 'translator');
    },
  );

  test.skipIf(skipped)(`${id}: refused, the agent in ${language} says why and fails${skipped}`, async () => {
    const { url, boss } = await hub('a-token-of-this-hub');
    const env = { NPC_HUB_TOKEN: 'a-token-of-this-hub' };
    await joins(boss, run([url], env), name);
    const refused = [run([url]), run([url], { NPC_HUB_TOKEN: 'another' }), run([url], env), run(['ws://127.0.0.1:9'])];
    expect(await Promise.all(refused.map(({ exit }) => exit))).toEqual([1, 1, 1, 1]);
    const said = refused.map(({ stderr }) => stderr());
    expect(said[0]).toMatch(/HTTP 401 .*token/);
    expect(said[1]).toMatch(/HTTP 401 .*token/);
    expect(said[2]).toContain('name_taken');
    expect(said[3]).toMatch(
      /could not stay on the hub at ws:\/\/127\.0\.0\.1:9: .*(ECONNREFUSED|refused|Connect call failed)/,
    );
  });

  test.skipIf(skipped)(`${id}: the agent in ${language} says bye when it is ended${skipped}`, async () => {
    const { url, boss } = await hub();
    const agent = run([url]);
    await joins(boss, agent, name);
    agent.child.kill('SIGTERM');
    expect(await agent.exit).toBe(0);
    await expect.poll(async () => (await boss.agents()).map((row) => row.name), soon).toEqual(['boss']);
  });
});

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
  expect(await result).toMatchObject({ status: 'success', summary: 'Replaced text in sum.js.', issues: [] });
  expect(await readFile(join(tree, 'sum.js'), 'utf8')).toContain('a + b');
});

test('R-CLIENT-63: the example flow is one, and names the role of the example agents', async () => {
  const flow = Flow.parse(JSON.parse(await readFile(example('flow-with-translator.json'), 'utf8')));
  expect(flow[0]).toMatchObject({ target_agent: 'translator', next: 'code' });
});
