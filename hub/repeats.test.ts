import { expect, test } from 'vitest';
import { crew } from '../test/helpers/crew.ts';
import { join0, join1, result, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';
import { Recent } from './recent.ts';
import { openStorage } from './sqlite-storage.ts';

test('R-HUB-52: a sender that repeats itself is recognised, however much others said meanwhile', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const quiet = await join1(hub, 'quiet');
  const loud = await join1(hub, 'loud');
  const route = { type: 'route', to: 'quiet', id: 'mine', payload: 1 };
  quiet.send({ ...route, to: 'loud' });
  quiet.acks = false;
  // Bare events of a run are logged and reach nobody, so that many of them are quick.
  const count = 10_000;
  for (let index = 0; index < count; index += 1) {
    loud.send({ type: 'task.event', task_id: 'run', id: `l${index}`, payload: { event: { type: 'noted', text: '' } } });
  }
  await loud.wait(({ type, payload }) => type === 'accepted' && payload.upto === count + 1);
  quiet.send({ ...route, to: 'loud' });
  expect((await quiet.next('accepted', ({ payload }) => payload.duplicates)).payload.duplicates).toEqual(['mine']);
});

test('R-HUB-52: the last 4,096 ids of a sender are known, before and after the log was asked', () => {
  const recent = new Recent();
  for (let index = 0; index < 20_000; index += 1) recent.set(`i${index}`, index + 1);
  for (let index = 20_000 - 4096; index < 20_000; index += 1) expect(recent.find(`i${index}`)).toBe(index + 1);
  expect(recent.find('i0')).toBeUndefined();
  const asked = new Recent();
  asked.set('new', 0);
  asked.fill(Array.from({ length: 4096 }, (_, index) => ({ id: `i${index}`, lsn: index + 1 })));
  asked.set('newer', 9000);
  expect(['i0', 'i4095', 'new', 'newer'].map((id) => asked.find(id))).toEqual([1, 4096, 0, 9000]);
});

const first = { type: 'route', to: 'b', task_id: 'x', attempt: 1, ref: 'r', payload: { x: 1 }, id: 'same' };

test.each<[string, object]>([
  ['type', { type: 'task.event', payload: { event: { type: 'noted' } } }],
  ['to', { to: 'c' }],
  ['to', { to: 'role:some' }],
  ['task_id', { task_id: 'y' }],
  ['attempt', { attempt: 2 }],
  ['attempt', { attempt: undefined }],
  ['ref', { ref: 's' }],
  ['ref', { ref: undefined }],
  ['payload', { payload: { x: 2 } }],
])('R-HUB-52: the same id with another %s is a conflict, the same frame is not', async (_title, other) => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  const b = await join1(hub, 'b', { roles: ['some'] });
  const c = await join1(hub, 'c');
  a.send(first);
  await b.next('route');
  a.send({ ...first, ...other });
  expect((await a.next('error', ({ ref }) => ref === 'same')).payload.code).toBe('duplicate_id_conflict');
  a.send(first);
  expect((await a.next('accepted', ({ payload }) => payload.duplicates)).payload.duplicates).toEqual(['same']);
  await Promise.all([b.ping(), c.ping()]);
  expect([...b.frames, ...c.frames].filter(({ from }) => from === 'a')).toEqual([]);
});

test('R-HUB-52: another type with the same payload under one id is a conflict', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  const event = { type: 'task.event', to: 'a', task_id: 'run', payload: { event: { type: 'noted' } }, id: 'same' };
  a.send(event);
  a.send({ ...event, type: 'route' });
  expect((await a.next('error')).payload.code).toBe('duplicate_id_conflict');
});

test('R-HUB-52: what goes to a role, and what the hub puts another target or attempt into, is known when it is repeated', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  const [worker] = workers;
  const twice = async (peer: Peer, frame: Parameters<Peer['send']>[0]) => {
    peer.send(frame);
    peer.send(frame);
    const { payload } = await peer.next('accepted', (said) => said.payload.duplicates?.includes(frame.id));
    expect(payload.duplicates).toEqual([frame.id]);
  };
  const about = { task_id: 't1', attempt: 1 };
  await twice(owner, { type: 'route', to: 'role:coder', id: '0' });
  await twice(owner, { type: 'task.assign', to: 'role:coder', id: '1', task_id: 't1', payload: { goal: 'x' } });
  owner.send({ type: 'task.assign', to: 'role:coder', id: '1', task_id: 't1', attempt: 1, payload: { goal: 'x' } });
  expect((await owner.next('error')).payload.code).toBe('duplicate_id_conflict');
  await twice(owner, { type: 'register_task', id: '7', task_id: 't2' });
  await twice(owner, { type: 'route', to: 'coder-1', id: '8', task_id: 't2', payload: 'go' });
  await worker.next('task.assign');
  await twice(worker, { ...about, type: 'task.accept', id: '2' });
  await twice(worker, { ...about, type: 'task.input', id: '3', payload: { question: '?' } });
  await twice(owner, { type: 'task.answer', id: '4', task_id: 't1', payload: { text: '!' } });
  await twice(owner, { type: 'task.cancel', id: '5', task_id: 't1', payload: { reason: 'no' } });
  await twice(worker, { ...about, type: 'task.result', id: '6', payload: result('x') });
  worker.send({ ...about, type: 'task.result', id: '6', attempt: 2, payload: result('x') });
  expect((await worker.next('error')).payload.code).toBe('duplicate_id_conflict');
});

test('R-HUB-52: what level 0 says of a task is known when it is repeated, whatever the hub made of it', async () => {
  const hub = await testHub();
  const owner = await join1(hub, 'owner');
  const worker = await join0(hub, 'w');
  owner.send({ type: 'task.assign', to: 'w', task_id: 't1', payload: { goal: 'x' } });
  await worker.next('route');
  const back = { type: 'route', task_id: 't1', id: 'back', payload: { status: 'done', summary: 'ok', mine: 1 } };
  worker.send(back);
  await owner.next('task.result');
  worker.send(back);
  worker.send({ ...back, payload: { status: 'failed', summary: 'ok' } });
  expect((await worker.next('error')).ref).toBe('back');
  await Promise.all([worker.ping(), owner.ping()]);
  expect(worker.frames.filter(({ type }) => type === 'error')).toEqual([]);
  expect(owner.frames.filter(({ type }) => type === 'task.result')).toEqual([]);
});

test('R-HUB-52: a repeat of what was trimmed from the log is a repeat', async () => {
  const { storage, ...rest } = await openStorage(':memory:');
  const hub = await testHub({ openStorage: async () => ({ storage, ...rest }) });
  const a = await join1(hub, 'a');
  a.send({ type: 'task.event', task_id: 'run', id: 'same', payload: { event: { type: 'noted' } } });
  await a.next('accepted', ({ payload }) => payload.upto === 2);
  expect(await storage.trim({ before: Number.MAX_SAFE_INTEGER })).toBe(1);
  a.send({ type: 'task.event', task_id: 'run', id: 'same', payload: { event: { type: 'noted' } } });
  expect((await a.next('accepted')).payload).toMatchObject({ upto: 3, duplicates: ['same'] });
  await a.ping();
  expect(a.frames.filter(({ type }) => type === 'error')).toEqual([]);
});
