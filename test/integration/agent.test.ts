import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { type RunningHub, startHub } from '../../hub/index.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';
import type { TaskResultPayload } from '../../protocol/index.ts';
import { startModelServer } from '../../testing/model-server.ts';
import { type RunningCli, runCli, startCli } from '../helpers/npc-crew.ts';

const standIn = fileURLToPath(new URL('../../examples/stand-in-coder.mjs', import.meta.url));
const exec = `${process.execPath} ${standIn} {task} {result}`;
const submit = (summary: string) => ({ calls: [{ name: 'submit-result', arguments: { status: 'success', summary } }] });

let home: string;
let tree: string;
let env: Record<string, string>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'npc-agent-'));
  tree = join(home, 'tree');
  await mkdir(tree);
  await writeFile(join(tree, 'sum.js'), 'export const sum = (a, b) => a - b;\n');
  env = { HOME: home };
});

async function openHub(auth: 'none' | 'required' = 'none'): Promise<{ hub: RunningHub; boss: HubClient }> {
  const hub = await startHub({ port: 0, database: ':memory:', auth, log: silentLog() });
  onTestFinished(() => hub.close());
  const token = hub.grant({ agent: 'boss', scopes: ['assign', 'watch'] });
  const boss = await connectHub({ url: hub.url, name: 'boss', token, log: silentLog() });
  onTestFinished(() => boss.close());
  return { hub, boss };
}

function start(args: string[], options: { env?: Record<string, string>; input?: string } = {}): RunningCli {
  const agent = startCli(['agent', ...args], { env, ...options });
  onTestFinished(() => void agent.child.kill('SIGKILL'));
  return agent;
}

async function give(boss: HubClient, role: string, goal: string): Promise<TaskResultPayload> {
  await expect
    .poll(async () => (await boss.agents()).some((agent) => agent.roles.includes(role)), { timeout: 15_000 })
    .toBe(true);
  const result = new Promise<TaskResultPayload>((resolve) => boss.on('task.result', ({ payload }) => resolve(payload)));
  await boss.send({ type: 'task.assign', to: `role:${role}`, task_id: 't1', payload: { goal, options: { tree } } });
  return result;
}

test('R-CLI-11: another program plays the coder, and the agent ends clean on a signal', async () => {
  const { hub, boss } = await openHub();
  const agent = start(['coder', '--name', 'mine', '--hub', hub.url, '--exec', exec]);
  expect(await give(boss, 'coder', 'In `sum.js` replace `a - b` with `a + b`.')).toMatchObject({ status: 'success' });
  expect(await readFile(join(tree, 'sum.js'), 'utf8')).toContain('a + b');
  expect((await boss.agents()).map(({ name }) => name)).toContain('mine');
  agent.child.kill('SIGTERM');
  expect(await agent.result).toMatchObject({ exit: 0, stdout: '' });
});

test('R-CLI-11: an agent that joins by hand asks its model itself', async () => {
  const { hub, boss } = await openHub();
  const models = await startModelServer({ script: { verifier: [submit('all well')] } });
  onTestFinished(() => models.close());
  start(['verifier', '--hub', hub.url], { env: { ...env, OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted' } });
  expect(await give(boss, 'verifier', 'look')).toMatchObject({ status: 'success', summary: 'all well' });
  expect(models.requests).toMatchObject([{ role: 'verifier', model: 'scripted' }]);
});

test('R-CLI-5: a hub that asks for a token gets it from stdin or from NPC_HUB_TOKEN, and without one the agent says so', async () => {
  const { hub, boss } = await openHub('required');
  const grant = (agent: string) => hub.grant({ agent, scopes: ['work'] });
  const input = `${JSON.stringify({ hub_token: grant('a') })}\n`;
  start(['helper', '--name', 'a', '--hub', hub.url, '--exec', exec, '--token-stdin'], { input });
  start(['helper', '--name', 'b', '--hub', hub.url, '--exec', exec], { env: { ...env, NPC_HUB_TOKEN: grant('b') } });
  const names = async () => (await boss.agents()).map(({ name }) => name).sort();
  await expect.poll(names, { timeout: 15_000 }).toEqual(['a', 'b', 'boss']);
  const refused = await runCli(['agent', 'helper', '--name', 'c', '--hub', hub.url, '--exec', exec], { env });
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toMatch(/^npc-crew: .*token/im);
});

test.each([
  [['painter'], 2, /painter.*--exec/],
  [['coder', '--name', 'no good'], 2, /a name is/],
  [['coder', '--exec', 'true {task}', '--hub', 'ws://127.0.0.1:1'], 2, /127\.0\.0\.1:1/],
  [['coder', '--exec', 'true', '--hub', 'ws://127.0.0.1:1'], 2, /^npc-crew: --exec true: it names no \{task\}/],
  [['coder', '--token-stdin'], 2, /first line of stdin/],
])('R-CLI-11: npc-crew agent %j ends with exit %i and one line', { timeout: 30_000 }, async (args, exit, words) => {
  const result = await runCli(['agent', ...args], { env });
  expect(result.stderr).toMatch(words);
  expect(result.exit).toBe(exit);
  expect(result.stderr.trim().split('\n')).toHaveLength(1);
});

test('R-CLI-11: a built-in role without a model says which variable is missing', async () => {
  const { hub } = await openHub();
  const { exit, stderr } = await runCli(['agent', 'coder', '--hub', hub.url], { env });
  expect({ exit, line: stderr.trim() }).toEqual({ exit: 3, line: expect.stringContaining('NPC_MODEL') });
});

test('R-CLI-11: an agent started by hand says when its hub is lost and when it is back', {
  timeout: 30_000,
}, async () => {
  const { hub } = await openHub();
  const agent = start(['coder', '--hub', hub.url, '--exec', exec]);
  await agent.until(/is on ws:/);
  await hub.close();
  await agent.until(/the hub ws:\S+ is lost/);
  const again = await startHub({ port: hub.port, database: ':memory:', auth: 'none', log: silentLog() });
  onTestFinished(() => again.close());
  await agent.until(/the hub ws:\S+ is back/);
});
