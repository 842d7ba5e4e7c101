import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import type { Envelope, TaskRow } from '../protocol/index.ts';
import { join0, join1 } from '../test/helpers/hub.ts';
import { startReplay } from './index.ts';

async function replay() {
  const hub = await startReplay({ port: 0, database: ':memory:', log: silentLog() });
  onTestFinished(() => hub.close());
  return hub;
}

const assign: Envelope = {
  ...{ type: 'task.assign', from: 'boss', to: 'role:coder', task_id: 'k.t', payload: { goal: '改' }, id: 'one' },
  ...{ lsn: 41, ts: 1000, seq: 7, prev: 6, meta: { own: 1 } },
};
const mail: Envelope = { type: 'route', from: 'boss', to: 'coder-1', task_id: '', payload: 'hello', lsn: 50, ts: 2000 };
const row: TaskRow = {
  ...{ task_id: 'k.t', owner: 'boss', target: 'role:coder', state: 'pending', sub_state: 'queued', attempt: 0 },
  ...{ agent: null, reason: null, parent: null, created: 1000, updated: 1000, summary: null },
};

async function logOf(port: number): Promise<Envelope[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/v1/log`)).text();
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

test('R-CLI-23: a replay holds the messages in their order and with their times, under numbers of its own', async () => {
  const hub = await replay();
  await hub.add([
    { frame: assign, task: row },
    { frame: mail },
    { frame: { ...mail, ts: undefined, payload: 'later' } },
  ]);
  const { seq, prev, ...kept } = assign;
  expect(await logOf(hub.port)).toMatchObject([
    { ...kept, lsn: 1 },
    { ...mail, lsn: 2 },
    { payload: 'later', lsn: 3, ts: 2000 },
  ]);
  expect((await logOf(hub.port))[0]).not.toHaveProperty('seq');
});

test('R-CLI-23: messages of a replay reach nobody’s mailbox, its tasks are offered to nobody, and whoever watches sees them', async () => {
  const hub = await replay();
  const coder = await join1(hub, 'coder-1', { roles: ['coder'] });
  coder.send({ type: 'watch', payload: {} });
  await coder.next('accepted', ({ payload }) => payload.upto === 2);
  await hub.add([{ frame: assign, task: row }, { frame: mail }]);
  await coder.next('event', ({ payload }) => payload.frame.payload === 'hello');
  const working = { state: 'running', sub_state: 'working', attempt: 1, agent: 'coder-9' } as const;
  await hub.add([{ frame: { ...mail, type: 'task.accept', task_id: 'k.t' }, task: { ...row, ...working } }]);
  coder.send({ type: 'tasks' });
  expect((await coder.next('tasks')).payload.tasks).toEqual([{ ...row, ...working }]);
  const { tasks } = (await (await fetch(`http://127.0.0.1:${hub.port}/v1/tasks`)).json()) as { tasks: TaskRow[] };
  expect(tasks).toMatchObject([working]);
  await coder.ping();
  expect(coder.frames.map(({ type }) => type).filter((type) => type === 'route' || type.startsWith('task.'))).toEqual(
    [],
  );
});

test('R-CLI-23: a replay takes no message and no task from anybody, at either level, and its log stays as it was', async () => {
  const hub = await replay();
  await hub.add([{ frame: mail }]);
  const level1 = await join1(hub, 'coder-1', { roles: ['coder'] });
  const level0 = await join0(hub, 'me');
  for (const peer of [level0, level1]) {
    const goal = { goal: 'new' };
    const ids = [
      peer.send({ type: 'route', to: 'coder-1', payload: 'new' }),
      peer.send({ type: 'register_task', task_id: 'new.1' }),
      peer.send({ type: 'task.assign', to: 'role:coder', task_id: 'new.2', payload: goal }),
      peer.send({ type: 'task.event', task_id: 'k.t', payload: { event: { type: 'noted' } } }),
    ];
    for (const id of ids) {
      const { payload } = await peer.next('error', ({ ref }) => ref === id);
      expect(payload).toMatchObject({ code: 'forbidden', message: expect.stringContaining('this is a replay') });
    }
    peer.send({ type: 'tasks' });
    expect((await peer.next('tasks')).payload.tasks).toEqual([]);
  }
  // every frame counts, the refused ones too
  await level1.next('accepted', ({ payload }) => payload.upto === 5);
  expect(await logOf(hub.port)).toMatchObject([{ ...mail, lsn: 1 }]);
});
