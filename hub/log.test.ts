import { join } from 'node:path';
import { expect, test } from 'vitest';
import { join1, result, testFolder, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';
import { countLog, readLog, readTasks } from './index.ts';

const event = (taskId: string, text: string) => ({
  type: 'task.event',
  task_id: taskId,
  payload: { event: { type: 'noted', text } },
});

async function pages(
  peer: Peer,
  filter: object,
  limit: number,
): Promise<{ payload: { event: { text: string } }; lsn: number }[]> {
  const frames = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    peer.send({ type: 'log', payload: { ...filter, after_lsn: after, limit } });
    const { payload } = await peer.next('log');
    expect(payload.frames.length).toBeLessThanOrEqual(limit);
    frames.push(...payload.frames);
    after = payload.next;
  }
  return frames;
}

test('R-HUB-16: the log is read by task, by tree and by type, page by page', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const a = await join1(hub, 'a');
  for (let count = 0; count < 10; count += 1) {
    a.send(event('run', `run ${count}`));
    a.send(event('run.t1', `t1 ${count}`));
    a.send(event('runner', `other ${count}`));
    a.send({ type: 'route', to: 'a', task_id: 'run', payload: count });
  }
  await a.ping();
  const texts = async (filter: object) =>
    (await pages(a, filter, 7)).map(({ payload }) => payload.event?.text?.split(' ')[0]);
  expect(await texts({ task_id: 'run.t1' })).toEqual(Array(10).fill('t1'));
  expect(new Set(await texts({ task_id: 'run', tree: true, type: 'task.event' }))).toEqual(new Set(['run', 't1']));
  expect(await texts({ task_id: 'run', type: 'task.event' })).toEqual(Array(10).fill('run'));
  const all = await pages(a, {}, 7);
  expect(all.map(({ lsn }) => lsn)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});

test('R-HUB-16: a page is no larger than a frame may be', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const a = await join1(hub, 'a');
  for (let count = 0; count < 6; count += 1) a.send(event('run', 'x'.repeat(200_000)));
  await a.ping();
  a.send({ type: 'log', payload: { task_id: 'run', limit: 100 } });
  const { payload } = await a.next('log');
  expect(payload.frames.length).toBe(2);
  expect(payload.next).toBe(2);
});

test('R-HUB-16: the file is read while the hub runs and after it ended', async () => {
  const database = join(await testFolder(), 'log.db');
  const hub = await testHub({ database });
  const owner = await join1(hub, 'owner');
  const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 'run.t1', payload: { goal: 'x' } });
  await worker.next('task.assign');
  worker.send({ type: 'task.result', task_id: 'run.t1', attempt: 1, payload: result('ok') });
  await owner.next('task.result');
  owner.send(event('run', 'the end'));
  await owner.ping();
  const types = async () => {
    const found = [];
    for await (const frame of readLog(database, { taskId: 'run', tree: true })) found.push(frame.type);
    return found;
  };
  const expected = ['task.assign', 'task.status', 'task.status', 'task.result', 'task.event'];
  expect(await types()).toEqual(expected);
  expect(await countLog(database)).toBe(5);
  expect(await readTasks(database)).toMatchObject([
    { task_id: 'run.t1', state: 'done', owner: 'owner', agent: 'coder-1' },
  ]);
  await hub.close();
  expect(await types()).toEqual(expected);
  await expect(countLog(`${database}.not`)).rejects.toMatchObject({ code: 'not_found' });
});

test('R-HUB-16: a watcher gets what happened since a position and what happens now, each once and in order', async () => {
  const hub = await testHub({ limits: { rate: 0, softBuffer: 20_000 } });
  const a = await join1(hub, 'a');
  const watcher = await join1(hub, 'watcher');
  for (let count = 0; count < 150; count += 1) a.send(event('run', 'y'.repeat(500)));
  await a.ping();
  watcher.send({ type: 'watch', payload: { after_lsn: 10, task_id: 'run' } });
  for (let count = 0; count < 150; count += 1) a.send(event(count % 2 ? 'run' : 'else', 'z'.repeat(500)));
  await watcher.wait(({ payload }) => payload?.frame?.lsn === 300);
  const lsns = watcher.frames.filter(({ type }) => type === 'event').map(({ payload }) => payload.frame.lsn);
  expect(lsns).toEqual([...lsns].sort((x, y) => x - y));
  expect(new Set(lsns).size).toBe(lsns.length);
  expect(lsns).toHaveLength(140 + 75);
  expect(watcher.frames.find(({ type }) => type === 'event')).toMatchObject({
    task_id: 'run',
    payload: { frame: { type: 'task.event', from: 'a', task_id: 'run', lsn: 11 } },
  });
});

test('R-HUB-16: a watcher can ask for one agent', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  const b = await join1(hub, 'b');
  const watcher = await join1(hub, 'watcher');
  watcher.send({ type: 'watch', payload: { agent: 'b' } });
  await watcher.next('accepted');
  a.send(event('run', 'not this'));
  a.send({ type: 'route', to: 'b', payload: 'to b' });
  await b.next('route');
  b.send({ type: 'route', to: 'a', payload: 'from b' });
  await watcher.next('event', ({ payload }) => payload.frame.payload === 'from b');
  expect(watcher.frames.map(({ payload }) => payload.frame.payload)).toEqual(['to b']);
});

test('R-HUB-13: unknown keys and meta travel untouched, and a frame without an id gets one', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  const b = await join1(hub, 'b');
  a.socket.send(
    JSON.stringify({
      type: 'route',
      from: 'a',
      to: 'b',
      task_id: '',
      payload: { deep: [1, { x: null }] },
      meta: { k: 1 },
      vendor: 'v',
    }),
  );
  const frame = await b.next('route');
  expect(frame).toMatchObject({ payload: { deep: [1, { x: null }] }, meta: { k: 1 }, vendor: 'v' });
  expect(frame.id).toMatch(/^[0-9a-f-]{36}$/);
});
