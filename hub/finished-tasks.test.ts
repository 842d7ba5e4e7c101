import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { assign, crew, submit, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join1, result, testFolder, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';
import { watchedStorage } from '../test/helpers/watched-storage.ts';
import { startHub } from './index.ts';

async function refusal(peer: Peer, frame: Parameters<Peer['send']>[0]): Promise<string> {
  const id = peer.send(frame);
  return (await peer.next('error', ({ ref }) => ref === id)).payload.code;
}

async function listed(peer: Peer): Promise<{ task_id: string; sub_state: string }[]> {
  peer.send({ type: 'tasks' });
  return (await peer.next('tasks')).payload.tasks;
}

test('R-HUB-59: of a thousand tasks that are over the oldest are read from the store, and their ids stay taken', async () => {
  const asked: string[] = [];
  const watched = watchedStorage();
  const hub = await testHub({
    limits: { rate: 0 },
    openStorage: async (path) => {
      const opened = await watched.openStorage(path);
      const task = (taskId: string) => {
        asked.push(taskId);
        return opened.storage.task(taskId);
      };
      return { ...opened, storage: { ...opened.storage, task } };
    },
  });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 'first');
  await takeUp(workers[0]);
  submit(workers[0], 'first', 1, 'long ago');
  await owner.next('task.result');
  owner.send({ type: 'register_task', task_id: 'open' });
  const count = 1010;
  for (let index = 0; index < count; index += 1) {
    // Tasks of the same millisecond are in the order of their ids.
    const id = `t${String(index).padStart(4, '0')}`;
    owner.send({ type: 'register_task', task_id: id });
    owner.send({ type: 'task.cancel', task_id: id, payload: { reason: 'no' } });
  }
  await owner.ping();
  asked.length = 0;
  expect(
    await refusal(owner, { type: 'task.assign', to: 'role:coder', task_id: 't1009', payload: { goal: 'x' } }),
  ).toBe('bad_state');
  expect(asked).toEqual([]);
  expect(
    await refusal(owner, { type: 'task.assign', to: 'role:coder', task_id: 'first', payload: { goal: 'x' } }),
  ).toBe('bad_state');
  expect(asked).toEqual(['first']);
  const late = { type: 'task.result', task_id: 'first', attempt: 1, payload: result('again') };
  expect(await refusal(workers[0], late)).toBe('bad_state');
  expect(await taskRow(owner, 'first')).toMatchObject({ sub_state: 'done', summary: 'long ago' });
  const rows = await listed(owner);
  expect(rows).toHaveLength(1000);
  expect(rows[0]).toMatchObject({ task_id: 'open', sub_state: 'queued' });
  expect(rows.at(-1)).toMatchObject({ task_id: 't1009', sub_state: 'cancelled' });
});

test('R-HUB-59: after a restart a task that is over is found, its id taken, and what never was a task is asked for once', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog() });
  const first = await crew(before, 'coder-1');
  assign(first.owner, 't1');
  await takeUp(first.workers[0]);
  submit(first.workers[0], 't1');
  await first.owner.next('task.result');
  await before.close();
  let asked = 0;
  const { openStorage } = watchedStorage();
  const hub = await testHub({
    database,
    openStorage: async (path) => {
      const opened = await openStorage(path);
      const task = (taskId: string) => {
        asked += 1;
        return opened.storage.task(taskId);
      };
      return { ...opened, storage: { ...opened.storage, task } };
    },
  });
  const owner = await join1(hub, 'owner');
  const coder = await join1(hub, 'coder-1', { roles: ['coder'] });
  for (const type of ['register_task', 'task.assign']) {
    const again = { type, to: 'role:coder', task_id: 't1', payload: { goal: 'x' } };
    expect(await refusal(owner, again)).toBe('bad_state');
    expect(await refusal(coder, again)).toBe('bad_state');
  }
  expect(await refusal(owner, { type: 'task.cancel', task_id: 't1', payload: { reason: 'x' } })).toBe('bad_state');
  expect(await refusal(coder, { type: 'task.progress', task_id: 't1', attempt: 2, payload: {} })).toBe('stale_attempt');
  expect(await listed(owner)).toMatchObject([{ task_id: 't1', sub_state: 'done' }]);
  expect(asked).toBe(1);
  for (let count = 0; count < 5; count += 1) {
    owner.send({ type: 'task.event', task_id: 'a-run', payload: { event: { type: 'noted', count } } });
  }
  await owner.ping();
  expect(asked).toBe(2);
});

test('R-HUB-59: a task that is given, cancelled and pushed out of memory within one turn is known all the same', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const owners = await Promise.all(['owner', 'two', 'three'].map((name) => join1(hub, name)));
  const [owner] = owners as [Peer, ...Peer[]];
  for (const peer of owners) peer.socket.pause();
  const { _socket: stream } = owner.socket as unknown as { _socket: Socket };
  stream.cork();
  assign(owner, 't');
  owner.send({ type: 'task.cancel', task_id: 't', payload: { reason: 'no' } });
  for (let index = 0; index < 1050; index += 1) {
    owner.send({ type: 'task.cancel', task_id: `u${index}`, payload: { reason: 'no' } });
  }
  const again = assign(owner, 't');
  stream.uncork();
  for (const peer of owners) peer.socket.resume();
  expect((await owner.next('error', ({ ref }) => ref === again)).payload.code).toBe('bad_state');
  expect(await taskRow(owner, 't')).toMatchObject({ sub_state: 'cancelled' });
});
