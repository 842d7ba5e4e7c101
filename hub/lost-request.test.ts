import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../base/sqlite.ts';
import { statusOf, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join0, join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { message, messages, session, task } from '../test/helpers/storage-conformance/rows.ts';
import { openStorage } from './sqlite-storage.ts';

/** A log that begins with the requests of two tasks that wait, the first of which is rotten now. */
async function rottenLog(sql: string, change: object = {}): Promise<string> {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  await storage.commit([session('owner')], 1);
  for (const id of ['t1', 't2']) {
    const request = { type: 'task.assign', from: 'owner', to: 'role:coder', taskId: id, id: `give ${id}` };
    const payload = { goal: `GOAL of ${id}`, artifacts: [], constraints: [] };
    await storage.commit(
      [
        message({ ...request, payload }),
        { kind: 'task', task: task(id, { assignId: request.id, ...(id === 't1' && change) }), expect: null },
      ],
      1,
    );
  }
  // The newest messages have to be sound, or no hub takes the log up.
  for (let turn = 0; turn < 30; turn += 1)
    await storage.commit(
      messages(40, () => ({ payload: 'x' })),
      turn + 2,
    );
  await storage.close();
  const database = await openDatabase(path);
  expect(database.prepare(sql).run().changes).toBe(1);
  database.close();
  return path;
}

const instead = (from: string, to: string) =>
  `UPDATE batch SET frames = CAST(replace(CAST(frames AS TEXT), '${from}', '${to}') AS BLOB) WHERE first = 1`;

const nothing = 'UPDATE batch SET frames = zeroblob(length(frames)) WHERE first = 1';

test.for([
  ['nothing is left of its bytes', nothing],
  ['its frame is no JSON', instead('"goal":"GOAL', '"goal":GOAL"')],
  ['its frame is no request', instead('"goal":"GOAL', '"gaol":"GOAL')],
  ['where it lies is not known', "UPDATE batch SET marks = '[[1,' WHERE first = 1"],
] satisfies [string, string][])(
  'R-HUB-118: a task of which %s fails, its owner is told why, and no worker is offered it',
  async ([, sql]) => {
    const hub = await testHub({ database: await rottenLog(sql) });
    const owner = await join1(hub, 'owner');
    const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
    const end = await owner.next(
      'task.status',
      ({ payload, task_id }) => task_id === 't1' && payload.state === 'failed',
    );
    expect(end.payload).toMatchObject({ sub_state: 'failed', agent: null, attempt: 0 });
    expect(end.payload.reason).toMatch(/^its request cannot be read any more/);
    expect(await taskRow(owner, 't1')).toMatchObject({ state: 'failed', reason: end.payload.reason, agent: null });
    expect((await takeUp(worker)).task_id).toBe('t2');
    await worker.ping();
    expect(worker.frames.filter(({ task_id }) => task_id === 't1')).toEqual([]);
  },
);

test('R-HUB-118: a level-0 worker, which has what it is told of at once, is not told of it either', async () => {
  const hub = await testHub({ database: await rottenLog(nothing, { target: 'coder-1' }) });
  const owner = await join1(hub, 'owner');
  const worker = await join0(hub, 'coder-1');
  expect((await statusOf(owner, 'failed')).payload.reason).toMatch(/^its request cannot be read any more/);
  await worker.ping();
  expect(worker.frames).toEqual([]);
});

test('R-HUB-118: of a task whose checkpoint is damaged the next attempt begins anew', async () => {
  const database = await rottenLog(nothing, { attempt: 1 });
  const { storage } = await openStorage(database);
  const second = task('t2', { assignId: 'give t2', attempt: 1 });
  const expect0 = { attempt: 0, subState: 'queued' } as const;
  await storage.commit(
    [
      { kind: 'task', task: second, expect: expect0 },
      { kind: 'checkpoint', taskId: 't2', checkpoint: '{"half": "do' },
    ],
    99,
  );
  await storage.close();
  const hub = await testHub({ database });
  const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
  const offer = await worker.next('task.assign');
  expect(offer).toMatchObject({ task_id: 't2', attempt: 2, payload: { goal: 'GOAL of t2' } });
  expect(offer.payload).not.toHaveProperty('checkpoint');
});
