import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { connectHub } from '../hub-client/index.ts';
import { join0, join1, testFolder, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';
import { task } from '../test/helpers/storage-conformance/rows.ts';
import type { RunningHub } from './index.ts';
import { openStorage } from './sqlite-storage.ts';

/** A hub whose table has so many tasks, `q0` the oldest; every `open`th of them is not over. */
async function hubWith(count: number, open: number): Promise<RunningHub> {
  const database = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(database);
  await storage.commit(
    Array.from({ length: count }, (_, index) => ({
      kind: 'task' as const,
      task: task(`q${index}`, { created: index, subState: index % open === 0 ? 'queued' : 'done' }),
      expect: null,
    })),
    1,
  );
  await storage.close();
  return testHub({ database, limits: { rate: 0 } });
}

async function list(peer: Peer, payload?: object): Promise<{ ids: string[]; more?: boolean; next?: string }> {
  peer.send({ type: 'tasks', payload });
  const { tasks, ...rest } = (await peer.next('tasks')).payload;
  return { ids: tasks.map(({ task_id }: { task_id: string }) => task_id), ...rest };
}

const numbered = (numbers: number[]) => numbers.map((index) => `q${index}`);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('R-HUB-119: of more open tasks than a list has the newest are in it, and it says that there are more', async () => {
  const hub = await hubWith(2500, 1);
  const newest = { ids: numbered(upTo(2500).slice(-1000)), more: true };
  for (const peer of [await join0(hub, 'a'), await join1(hub, 'b')]) {
    expect(await list(peer, undefined)).toEqual(newest);
    expect(await list(peer, { prefix: 'q249' })).toEqual({ ids: ['q249', ...numbered(upTo(2500).slice(-10))] });
  }
});

test('R-HUB-119: what is not over is in the list however much was given and done since', async () => {
  const hub = await hubWith(2500, 10);
  const peer = await join0(hub, 'a');
  const open = upTo(2500).filter((index) => index % 10 === 0);
  const done = upTo(2500).filter((index) => index % 10 !== 0);
  const expected = [...open, ...done.slice(-750)].sort((a, b) => a - b);
  expect(await list(peer)).toEqual({ ids: numbered(expected), more: true });
});

test('R-HUB-119: all tasks are read in pages, also by the client, and a page after no task is refused', async () => {
  const hub = await hubWith(2500, 3);
  const peer = await join0(hub, 'a');
  const found: string[] = [];
  let pages = 0;
  for (let after: string | undefined = ''; after !== undefined; pages += 1) {
    const page = await list(peer, { after });
    expect(page.ids.length).toBeLessThanOrEqual(1000);
    found.push(...page.ids);
    after = page.next;
  }
  expect(pages).toBe(3);
  expect(found).toEqual(numbered(upTo(2500)));
  peer.send({ type: 'tasks', payload: { after: 'none' } });
  expect((await peer.next('error')).payload).toMatchObject({
    code: 'no_such_task',
    message: 'after: there is no task none',
  });
  const client = await connectHub({ url: hub.url, name: 'c', log: silentLog() });
  onTestFinished(() => client.close());
  expect((await client.tasks()).map(({ task_id }) => task_id)).toEqual(found);
});
