import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { runCli } from '../helpers/npc-crew.ts';
import { connectPeer, helloPeer } from '../helpers/peer.ts';

let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  ({ home, env } = await testHome());
});

test('R-CLI-19: what an agent was offered for its role is among what it got, from a hub, a folder and a file', async () => {
  const { url, state } = await startHubProcess(home);
  const boss = await connectPeer(url, 'boss');
  const { peer: coder } = await helloPeer(url, 'coder-1', { roles: ['coder'] });
  for (const [to, task_id] of [
    ['role:coder', 'a'],
    ['role:painter', 'b'],
  ] as const) {
    boss.send({ type: 'task.assign', to, task_id, payload: { goal: 'g' } });
  }
  await coder.next('task.assign');
  coder.send({ type: 'task.decline', task_id: 'a', attempt: 1, payload: { reason: 'no' } });
  await coder.ping();
  const file = join(home, 'run.jsonl');
  await runCli(['log', '--hub', url, '--export', file], { env });
  for (const where of [
    ['--hub', url],
    ['--state', state],
    ['--file', file],
    ['--hub', url, '--last', '9'],
  ]) {
    const { stdout } = await runCli(['log', '--agent', 'coder-1', '--json', ...where], { env });
    const frames = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(frames.map(({ type, task_id }) => `${type} ${task_id}`)).toEqual(['task.assign a', 'task.decline a']);
  }
  const results = await runCli(['log', '--agent', 'coder-1', '--type', 'task.result', '--hub', url], { env });
  expect(results).toMatchObject({ stdout: '', stderr: 'no message matches\n' });
  const typo = await runCli(['log', '--agent', 'coder1', '--type', 'task.reslt', '--hub', url], { env });
  expect(typo.stderr).toContain(
    'task.reslt is no type of message, nor of an event that npc-crew knows; did you mean task.result?',
  );
  expect(typo.stderr).toContain('nobody here is called coder1; did you mean coder-1?');
  await Promise.all([boss.close(), coder.close()]);
});
