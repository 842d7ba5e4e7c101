import { expect, test } from 'vitest';
import { assign, crew, statusOf, submit, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join1, result, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';

/** Back-offs that a test does not have to wait for. */
const fast = { backoffBase: 1 };

async function holder(owner: Peer, workers: readonly Peer[], taskId: string): Promise<Peer> {
  const { agent } = await taskRow(owner, taskId);
  return workers.find(({ name }) => name === agent) as Peer;
}

test('R-HUB-8: a declined task goes to another agent of the role and uses no attempt', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1');
  const offers = await Promise.race(
    workers.map(async (worker) => ({ worker, offer: await worker.next('task.assign') })),
  );
  offers.worker.send({ type: 'task.decline', task_id: 't1', attempt: 1, payload: { reason: 'busy' } });
  const other = workers.find((worker) => worker !== offers.worker) as Peer;
  expect(await other.next('task.assign')).toMatchObject({ attempt: 1 });
});

test('R-HUB-8: a question goes to the owner, its answer to the worker, and the task goes on', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({
    type: 'task.input',
    task_id: 't1',
    attempt: 1,
    payload: { question: 'tabs or spaces?' },
  });
  const question = await owner.next('task.input');
  expect(question).toMatchObject({ from: 'coder-1', to: 'owner', payload: { question: 'tabs or spaces?' } });
  expect(await taskRow(owner, 't1')).toMatchObject({ state: 'running', sub_state: 'input_required' });
  owner.send({
    type: 'task.answer',
    to: 'coder-1',
    task_id: 't1',
    ref: question.id ?? '',
    payload: { text: 'spaces' },
  });
  expect(await workers[0].next('task.answer')).toMatchObject({
    ref: question.id,
    payload: { text: 'spaces' },
    attempt: 1,
  });
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'working' });
});

test('R-HUB-8: progress renews the lease and its checkpoint reaches the next attempt', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({
    type: 'task.progress',
    task_id: 't1',
    attempt: 1,
    payload: { note: 'half', checkpoint: { step: 7 } },
  });
  const lease = await workers[0].next('lease');
  expect(lease.payload.until).toBeGreaterThan(Date.now() + 290_000);
  workers[0].send({ type: 'task.release', task_id: 't1', attempt: 1, payload: { reason: 'shutdown' } });
  expect(await workers[0].next('task.assign')).toMatchObject({
    attempt: 2,
    payload: { checkpoint: { step: 7 } },
  });
});

test('R-HUB-8: cancel reaches the worker and ends at the latest after the grace', async () => {
  const hub = await testHub({ clocks: { cancelGrace: 20 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  await statusOf(owner, 'working');
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'changed my mind' } });
  expect(await workers[0].next('task.cancel')).toMatchObject({
    attempt: 1,
    payload: { reason: 'changed my mind' },
  });
  expect((await statusOf(owner, 'cancelled')).payload).toMatchObject({ state: 'failed', reason: 'changed my mind' });
});

test('R-HUB-8: a task that waits is cancelled on the spot', async () => {
  const hub = await testHub();
  const { owner } = await crew(hub);
  assign(owner, 't1');
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'no' } });
  expect((await statusOf(owner, 'cancelled')).payload.attempt).toBe(0);
});

test('R-HUB-8: what cannot be is refused with its reason', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  const refusal = async (peer: Peer, frame: Parameters<Peer['send']>[0]) => {
    const id = peer.send(frame);
    return (await peer.next('error', ({ ref }) => ref === id)).payload.code;
  };
  const payload = { goal: 'x' };
  expect(await refusal(owner, { type: 'task.assign', to: 'role:coder', task_id: '', payload })).toBe('bad_frame');
  expect(await refusal(owner, { type: 'task.assign', to: '*', task_id: 't0', payload })).toBe('bad_frame');
  expect(await refusal(owner, { type: 'task.assign', to: 'role:coder', task_id: 't0', payload: {} })).toBe('bad_frame');
  expect(await refusal(owner, { type: 'task.cancel', task_id: 't0', payload: { reason: 'x' } })).toBe('no_such_task');
  expect(await refusal(workers[0], { type: 'task.accept', task_id: 't0', attempt: 1 })).toBe('no_such_task');
  assign(owner, 't1');
  await workers[0].next('task.assign');
  expect(await refusal(owner, { type: 'task.assign', to: 'role:coder', task_id: 't1', payload })).toBe('bad_state');
  expect(await refusal(owner, { type: 'task.answer', task_id: 't1', payload: { text: 'x' } })).toBe('bad_state');
  expect(await refusal(workers[0], { type: 'task.accept', task_id: 't1' })).toBe('bad_frame');
  submit(workers[0], 't1');
  expect(await refusal(workers[0], { type: 'task.result', task_id: 't1', attempt: 1, payload: result('again') })).toBe(
    'bad_state',
  );
});

test('R-HUB-8: failed as a result is an answer and is not retried', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await workers[0].next('task.assign');
  workers[0].send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('cannot', 'failed') });
  expect((await owner.next('task.result')).payload.status).toBe('failed');
  expect(await taskRow(owner, 't1')).toMatchObject({ state: 'failed', sub_state: 'failed', attempt: 1 });
});

test('R-HUB-9: a stale result is refused, logged under another name, told to the owner and changes nothing', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.release', task_id: 't1', attempt: 1, payload: {} });
  await takeUp(workers[0], 2);
  const id = submit(workers[0], 't1', 1, 'late');
  expect(await workers[0].next('error', ({ ref }) => ref === id)).toMatchObject({
    payload: { code: 'stale_attempt' },
  });
  const told = await owner.next('task.status', ({ payload }) => payload.reason.startsWith('stale result'));
  expect(told.payload).toMatchObject({ sub_state: 'working', attempt: 2 });
  owner.send({ type: 'log', payload: { task_id: 't1', type: 'stale_result' } });
  expect((await owner.next('log')).payload.frames).toMatchObject([{ from: 'coder-1', payload: { summary: 'late' } }]);
  expect(owner.frames.some(({ type }) => type === 'task.result')).toBe(false);
});

test('R-HUB-9: a stale result that is sent again, since its refusal was lost, is refused again', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.release', task_id: 't1', attempt: 1, payload: {} });
  await takeUp(workers[0], 2);
  const frame = { type: 'task.result', task_id: 't1', attempt: 1, payload: result('late'), id: 'late' };
  for (let time = 1; time <= 2; time += 1) {
    workers[0].send(frame);
    expect((await workers[0].next('error', ({ ref }) => ref === 'late')).payload.code).toBe('stale_attempt');
  }
  await workers[0].ping();
  expect(workers[0].frames.filter(({ payload }) => payload.duplicates !== undefined)).toEqual([]);
  owner.send({ type: 'log', payload: { type: 'stale_result' } });
  expect((await owner.next('log')).payload.frames).toHaveLength(1);
});

test('R-HUB-9: events of an attempt that is over are refused', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1', {}, 'coder-1');
  await takeUp(workers[0]);
  const event = { type: 'task.event', task_id: 't1', payload: { event: { type: 'noted' } } };
  const late = workers[1].send(event);
  expect((await workers[1].next('error', ({ ref }) => ref === late)).payload.code).toBe('stale_attempt');
  workers[0].send({ ...event, attempt: 1 });
  await workers[0].ping();
  owner.send({ type: 'log', payload: { type: 'task.event' } });
  expect((await owner.next('log')).payload.frames).toHaveLength(1);
});

test('R-HUB-2: the same result sent twice is taken once and named as a duplicate', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await workers[0].next('task.assign');
  const frame = { type: 'task.result', task_id: 't1', attempt: 1, payload: result('once'), id: 'r1' };
  workers[0].send(frame);
  workers[0].send(frame);
  const accepted = await workers[0].next('accepted', ({ payload }) => payload.duplicates !== undefined);
  expect(accepted.payload.duplicates).toEqual(['r1']);
  workers[0].send({ ...frame, payload: result('twice') });
  expect((await workers[0].next('error')).payload.code).toBe('duplicate_id_conflict');
  await owner.ping();
  expect(owner.frames.filter(({ type }) => type === 'task.result')).toHaveLength(1);
});

test('R-HUB-11: at most two root tasks are at work; a freed slot is used at once', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2', 'coder-3');
  for (const task of ['t1', 't2', 't3']) assign(owner, task);
  await owner.ping();
  const states = async () => {
    owner.send({ type: 'tasks' });
    return (await owner.next('tasks')).payload.tasks.map((task: { sub_state: string }) => task.sub_state);
  };
  expect(await states()).toEqual(['offered', 'offered', 'queued']);
  const first = await holder(owner, workers, 't1');
  submit(first, (await first.next('task.assign')).task_id);
  await owner.next('task.result');
  expect(await states()).toEqual(['done', 'offered', 'offered']);
});

test('R-HUB-11: a task with a parent at work uses its slot', async () => {
  const hub = await testHub({ concurrency: 1 });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1');
  const parent = await holder(owner, workers, 't1');
  await takeUp(parent);
  assign(owner, 't1.sub', { parent: 't1' });
  const child = workers.find((worker) => worker !== parent) as Peer;
  expect(await child.next('task.assign')).toMatchObject({ task_id: 't1.sub' });
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['itself', { t1: 't1', t2: 't2', t3: 't3' }],
  ['each other', { t1: 't2', t2: 't1', t3: 't1' }],
  ['the next in a circle', { t1: 't2', t2: 't3', t3: 't1' }],
])('R-HUB-11: tasks that have %s as parent count like others', async (_title, parents) => {
  const hub = await testHub({ concurrency: 2 });
  const owner = await join1(hub, 'owner');
  const worker = await join1(hub, 'w', { roles: ['coder'], max_concurrency: 9 });
  for (const [task, parent] of Object.entries(parents)) assign(owner, task, { parent });
  await takeUp(worker);
  await takeUp(worker);
  await Promise.all([owner.ping(), worker.ping()]);
  expect(worker.frames.filter(({ type }) => type === 'task.assign')).toEqual([]);
});

test('R-HUB-11: the slot of a task is used by its owner and by who works on it, not by others', async () => {
  const hub = await testHub({ concurrency: 1 });
  const owner = await join1(hub, 'owner');
  const other = await join1(hub, 'other');
  const worker = await join1(hub, 'w', { roles: ['coder'], max_concurrency: 9 });
  assign(owner, 't1');
  await takeUp(worker);
  assign(other, 'theirs', { parent: 't1' });
  await other.ping();
  assign(worker, 't1.a', { parent: 't1' });
  expect(await takeUp(worker)).toMatchObject({ task_id: 't1.a' });
  assign(owner, 't1.a.b', { parent: 't1' });
  expect(await takeUp(worker)).toMatchObject({ task_id: 't1.a.b' });
  assign(worker, 't1.a.c', { parent: 't1.a' });
  expect(await takeUp(worker)).toMatchObject({ task_id: 't1.a.c' });
  expect(await taskRow(other, 'theirs')).toMatchObject({ sub_state: 'queued' });
});

test('R-HUB-11: one agent gets as many tasks at once as it said it can do', async () => {
  const hub = await testHub({ concurrency: 5 });
  const owner = await join1(hub, 'owner');
  const worker = await join1(hub, 'coder-1', { roles: ['coder'], max_concurrency: 2 });
  for (const task of ['t1', 't2', 't3']) assign(owner, task);
  await worker.next('task.assign');
  await worker.next('task.assign');
  await worker.ping();
  expect(worker.frames.some(({ type }) => type === 'task.assign')).toBe(false);
});

test('R-HUB-11: a higher priority is served first', async () => {
  const hub = await testHub();
  const owner = await join1(hub, 'owner');
  assign(owner, 'low');
  assign(owner, 'high', { priority: 5 });
  await owner.ping();
  const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
  expect((await worker.next('task.assign')).task_id).toBe('high');
});
