import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunningHub } from '../../hub/index.ts';
import { join0, join1, testFolder, testHub } from '../../test/helpers/hub.ts';
import { stuckTable } from '../show/stuck-table.ts';
import { fileSource } from './file-source.ts';
import { hubSource } from './hub-source.ts';
import { stateSource } from './state-source.ts';
import { stuckTasks } from './stuck.ts';

const minutes = (count: number) => Date.now() + count * 60_000;

async function stuckOn(hub: RunningHub, now: number) {
  const source = await hubSource(hub.url, 2000);
  return new Map((await stuckTasks(source, now)).map(({ task, ...stuck }) => [task.task_id, stuck]));
}

test('R-CLI-24: each task that does not get on is told with why, for how long, and what to do', async () => {
  const hub = await testHub({ concurrency: 5 });
  const owner = await join1(hub, 'owner');
  const mute = await join1(hub, 'mute', { roles: ['coder'] });
  const asker = await join1(hub, 'asker', { roles: ['reviewer'] });
  const slow = await join1(hub, 'slow', { roles: ['verifier'] });
  const assign = (to: string, task_id: string) =>
    owner.send({ type: 'task.assign', to, task_id, payload: { goal: '改' } });
  for (const [to, id] of [
    ['role:coder', 'k.mute'],
    ['role:coder', 'k.line'],
    ['role:reviewer', 'k.ask'],
    ['role:verifier', 'k.slow'],
    ['role:painter', 'k.none'],
    ['lonely', 'k.name'],
  ] as const)
    assign(to, id);
  owner.send({ type: 'register_task', task_id: 'k.idle' });
  await mute.next('task.assign');
  mute.send({ type: 'task.accept', task_id: 'k.mute', attempt: 1, payload: null });
  await asker.next('task.assign');
  asker.send({ type: 'task.accept', task_id: 'k.ask', attempt: 1, payload: null });
  asker.send({ type: 'task.input', task_id: 'k.ask', attempt: 1, payload: { question: '哪一个？' } });
  await slow.next('task.assign');
  await owner.next('task.input');
  await Promise.all([owner.ping(), mute.ping()]);

  expect(await stuckOn(hub, Date.now())).toEqual(new Map());
  const early = await stuckOn(hub, minutes(1));
  expect([...early.keys()].sort()).toEqual(['k.ask', 'k.idle', 'k.name', 'k.none', 'k.slow']);
  const late = await stuckOn(hub, minutes(6));
  expect(Object.fromEntries(late)).toMatchObject({
    'k.mute': {
      why: 'no sign of life from mute',
      cure: expect.stringMatching(/log --task k\.mute --last 20 --hub ws:\S+; in 0ms the hub gives/),
    },
    'k.line': { why: 'waits for a free slot; mute is on k.mute' },
    'k.ask': { why: 'asker asked owner: 哪一个？', cure: expect.stringContaining('owner must answer') },
    'k.slow': { why: 'slow has not accepted it' },
    'k.none': {
      why: 'no agent for role:painter is connected',
      cure: `start one: npc-crew agent painter --exec '…{task}…' --hub ${hub.url}`,
    },
    'k.name': { cure: expect.stringContaining("agent helper --name lonely --exec '…{task}…' --hub") },
    'k.idle': { why: 'owner has not said who is to do it' },
  });
  for (const { for_ms } of late.values()) expect(for_ms).toBeGreaterThan(350_000);
});

test('R-CLI-24: an agent that said how long it may be busy is not taken for mute, and a task’s own silence time counts', async () => {
  const hub = await testHub();
  const owner = await join1(hub, 'owner');
  const coder = await join1(hub, 'coder-1', { roles: ['coder'] });
  const options = { silence_timeout_ms: 120_000 };
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't', payload: { goal: 'g', options } });
  await coder.next('task.assign');
  coder.send({ type: 'task.accept', task_id: 't', attempt: 1, payload: null });
  await coder.ping();
  expect((await stuckOn(hub, minutes(1.1))).get('t')?.why).toBe('no sign of life from coder-1');
  coder.send({ type: 'task.progress', task_id: 't', attempt: 1, payload: { busy_until: minutes(5) } });
  await coder.next('lease');
  expect(await stuckOn(hub, minutes(5.5))).toEqual(new Map());
  expect((await stuckOn(hub, minutes(6.1))).size).toBe(1);
});

test('R-CLI-24: where no hub is at work any more, every task that is not over is told as left behind', async () => {
  const folder = await testFolder();
  const hub = await testHub({ database: join(folder, 'log.db') });
  const owner = await join0(hub, 'owner');
  owner.send({ type: 'register_task', task_id: 't' });
  await owner.ping();
  await hub.close();
  const left = [{ task: { task_id: 't' }, why: expect.stringContaining('no hub is at work') }];
  const source = await stateSource(folder);
  const path = join(folder, 'run.jsonl');
  const lines: string[] = [];
  for await (const frame of source.frames()) lines.push(`${JSON.stringify(frame)}\n`);
  await writeFile(path, lines.join(''));
  for (const place of [source, fileSource(path)]) {
    const stuck = await stuckTasks(place, Date.now());
    expect(stuck).toMatchObject(left);
    expect(stuckTable(stuck, {}).at(-1)).toMatch(/^ {2}→ start the hub again/);
    await place.close();
  }
  expect(stuckTable([], {})).toEqual(['nothing is stuck']);
});

test('R-CLI-24: the advice names the token file of the hub, and a command in it is not cut', async () => {
  const hub = await testHub();
  const owner = await join0(hub, 'owner');
  for (const role of ['translator', 'coder'])
    owner.send({ type: 'task.assign', to: `role:${role}`, task_id: role, payload: { goal: 'g' } });
  await owner.ping();
  const tokenFile = `/a folder/${'long/'.repeat(30)}token`;
  const source = await hubSource(hub.url, 2000, { tokenFile });
  const stuck = await stuckTasks(source, minutes(1));
  const place = `--hub ${hub.url} --token-file '${tokenFile}'`;
  expect(
    stuckTable(stuck, { columns: 60 })
      .filter((line) => line.startsWith('  →'))
      .sort(),
  ).toEqual([
    `  → start one: npc-crew agent coder ${place}`,
    `  → start one: npc-crew agent translator --exec '…{task}…' ${place}`,
  ]);
});
