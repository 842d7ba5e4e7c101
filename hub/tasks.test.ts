import { expect, test } from 'vitest';
import { join1, result, testHub } from '../test/helpers/hub.ts';
import type { Peer, PeerFrame } from '../test/helpers/peer.ts';
import type { RunningHub } from './index.ts';

/** Clocks a thousand times faster than the real ones, where a test waits for them. */
const fast = { backoffBase: 1 };

async function crew(hub: RunningHub, ...workers: string[]) {
  const owner = await join1(hub, 'owner');
  const joined: Peer[] = [];
  for (const name of workers) joined.push(await join1(hub, name, { roles: ['coder'] }));
  return { owner, workers: joined as [Peer, ...Peer[]] };
}

function assign(owner: Peer, taskId: string, options: object = {}, to = 'role:coder') {
  return owner.send({ type: 'task.assign', to, task_id: taskId, payload: { goal: `do ${taskId}`, options } });
}

const accept = (worker: Peer, { task_id, attempt }: PeerFrame) =>
  worker.send({ type: 'task.accept', task_id, attempt: attempt ?? 0 });

const submit = (worker: Peer, { task_id, attempt }: PeerFrame, summary = 'done') =>
  worker.send({ type: 'task.result', task_id, attempt: attempt ?? 0, payload: result(summary) });

async function row(peer: Peer, taskId: string) {
  peer.send({ type: 'tasks', payload: { prefix: taskId } });
  return (await peer.next('tasks')).payload.tasks[0];
}

async function holder(owner: Peer, workers: Peer[], taskId: string): Promise<Peer> {
  const { agent } = await row(owner, taskId);
  return workers.find(({ name }) => name === agent) as Peer;
}

const status = (owner: Peer, subState: string) =>
  owner.next('task.status', ({ payload }) => payload.sub_state === subState);

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
  accept(workers[0], await workers[0].next('task.assign'));
  workers[0].send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'tabs or spaces?' } });
  const question = await owner.next('task.input');
  expect(question).toMatchObject({ from: 'coder-1', to: 'owner', payload: { question: 'tabs or spaces?' } });
  expect(await row(owner, 't1')).toMatchObject({ state: 'running', sub_state: 'input_required' });
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
  expect(await row(owner, 't1')).toMatchObject({ sub_state: 'working' });
});

test('R-HUB-8: progress renews the lease and its checkpoint reaches the next attempt', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  workers[0].send({
    type: 'task.progress',
    task_id: 't1',
    attempt: 1,
    payload: { note: 'half', checkpoint: { step: 7 } },
  });
  const lease = await workers[0].next('lease');
  expect(lease.payload.until).toBeGreaterThan(Date.now() + 290_000);
  workers[0].send({ type: 'task.release', task_id: 't1', attempt: 1, payload: { reason: 'shutdown' } });
  expect(await workers[0].next('task.assign')).toMatchObject({ attempt: 2, payload: { checkpoint: { step: 7 } } });
});

test('R-HUB-8: cancel reaches the worker and ends at the latest after the grace', async () => {
  const hub = await testHub({ clocks: { cancelGrace: 20 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  await status(owner, 'working');
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'changed my mind' } });
  expect(await workers[0].next('task.cancel')).toMatchObject({ attempt: 1, payload: { reason: 'changed my mind' } });
  expect((await status(owner, 'cancelled')).payload).toMatchObject({ state: 'failed', reason: 'changed my mind' });
});

test('R-HUB-8: a task that waits is cancelled on the spot', async () => {
  const hub = await testHub();
  const { owner } = await crew(hub);
  assign(owner, 't1');
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'no' } });
  expect((await status(owner, 'cancelled')).payload.attempt).toBe(0);
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
  accept(workers[0], { task_id: 't1', attempt: 1 } as PeerFrame);
  submit(workers[0], { task_id: 't1', attempt: 1 } as PeerFrame);
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
  expect(await row(owner, 't1')).toMatchObject({ state: 'failed', sub_state: 'failed', attempt: 1 });
});

test('R-HUB-9: a stale result is refused, logged under another name, told to the owner and changes nothing', async () => {
  const hub = await testHub({ clocks: { ...fast, silence: 30 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  expect(await workers[0].next('task.cancel')).toMatchObject({ attempt: 1 });
  accept(workers[0], await workers[0].next('task.assign', ({ attempt }) => attempt === 2));
  const id = submit(workers[0], { task_id: 't1', attempt: 1 } as PeerFrame, 'late');
  expect(await workers[0].next('error', ({ ref }) => ref === id)).toMatchObject({ payload: { code: 'stale_attempt' } });
  const told = await owner.next('task.status', ({ payload }) => payload.reason.startsWith('stale result'));
  expect(told.payload).toMatchObject({ sub_state: 'working', attempt: 2 });
  owner.send({ type: 'log', payload: { task_id: 't1', type: 'stale_result' } });
  expect((await owner.next('log')).payload.frames).toMatchObject([{ from: 'coder-1', payload: { summary: 'late' } }]);
  expect(owner.frames.some(({ type }) => type === 'task.result')).toBe(false);
});

test('R-HUB-9: events of an attempt that is over are refused', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1', {}, 'coder-1');
  accept(workers[0], await workers[0].next('task.assign'));
  const event = { type: 'task.event', task_id: 't1', payload: { event: { type: 'noted' } } };
  const late = (workers[1] as Peer).send(event);
  expect((await (workers[1] as Peer).next('error', ({ ref }) => ref === late)).payload.code).toBe('stale_attempt');
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

test('R-HUB-10: a mute worker is replaced, three times in all, and then the task is dead', async () => {
  const hub = await testHub({ clocks: { ...fast, silence: 25 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  for (const attempt of [1, 2, 3]) {
    accept(workers[0], await workers[0].next('task.assign', (frame) => frame.attempt === attempt));
  }
  expect((await status(owner, 'dead')).payload).toMatchObject({ state: 'failed', attempt: 3 });
});

test('R-HUB-10: who gives signs of life is not taken for mute, however long the work', async () => {
  const hub = await testHub({ clocks: { ...fast, silence: 60 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  for (let count = 0; count < 10; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    workers[0].send({ type: 'task.progress', task_id: 't1', attempt: 1, payload: {} });
  }
  submit(workers[0], { task_id: 't1', attempt: 1 } as PeerFrame);
  expect(await owner.next('task.result')).toMatchObject({ attempt: 1 });
});

test('R-HUB-10: silence counts from the end of a call that was announced', async () => {
  const hub = await testHub({ clocks: { ...fast, silence: 30 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  const began = Date.now();
  workers[0].send({ type: 'task.progress', task_id: 't1', attempt: 1, payload: { busy_until: began + 150 } });
  await status(owner, 'queued');
  expect(Date.now() - began).toBeGreaterThanOrEqual(175);
});

test('R-HUB-10: an attempt that takes too long is ended, and 0 turns that clock off', async () => {
  const hub = await testHub({ clocks: { ...fast, attempt: 20 } });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 'endless', { attempt_timeout_ms: 0 }, 'coder-1');
  assign(owner, 'short', {}, 'coder-2');
  accept(workers[0], await workers[0].next('task.assign'));
  accept(workers[1] as Peer, await (workers[1] as Peer).next('task.assign'));
  expect((await status(owner, 'queued')).payload.reason).toContain('longer than 20 ms');
  expect(await row(owner, 'endless')).toMatchObject({ sub_state: 'working' });
});

test('R-HUB-10: while an answer is awaited neither silence nor attempt runs', async () => {
  const hub = await testHub({ clocks: { ...fast, silence: 20, attempt: 40 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  workers[0].send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: '?' } });
  await owner.next('task.input');
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(await row(owner, 't1')).toMatchObject({ sub_state: 'input_required', attempt: 1 });
  owner.send({ type: 'task.answer', task_id: 't1', payload: { text: '!' } });
  await workers[0].next('task.answer');
  await status(owner, 'queued');
});

test('R-HUB-10: an offer that is not accepted in time goes to another agent and uses no attempt', async () => {
  const hub = await testHub({ clocks: { ...fast, accept: 20 } });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1');
  const both = workers.map(async (worker) => worker.next('task.assign'));
  const offers = await Promise.all(both);
  expect(offers.map(({ attempt }) => attempt)).toEqual([1, 1]);
});

test('R-HUB-10: a task that nobody comes for fails with no_worker', async () => {
  const hub = await testHub({ clocks: { queue: 20 } });
  const { owner } = await crew(hub);
  assign(owner, 't1');
  expect((await status(owner, 'failed')).payload.reason).toContain('no_worker');
});

test('R-HUB-10: the queue clock stands still while somebody of the role is there, busy or not', async () => {
  const hub = await testHub({ clocks: { queue: 20 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  assign(owner, 't2');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await row(owner, 't2')).toMatchObject({ sub_state: 'queued' });
});

test('R-HUB-10: an offer is void when its agent goes away; work waits for the session and is lost after the grace', async () => {
  const hub = await testHub({ clocks: { ...fast, grace: 40 } });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1', {}, 'coder-1');
  accept(workers[0], await workers[0].next('task.assign'));
  await status(owner, 'working');
  assign(owner, 't2', {}, 'coder-2');
  await (workers[1] as Peer).next('task.assign');
  await (workers[1] as Peer).close();
  expect((await status(owner, 'queued')).task_id).toBe('t2');
  await workers[0].close();
  const lost = await owner.next(
    'task.status',
    ({ task_id, payload }) => task_id === 't1' && payload.sub_state === 'queued',
  );
  expect(lost.payload.reason).toContain('did not come back');
});

test('R-HUB-10: work of a lost agent is handed to another one of the role', async () => {
  const hub = await testHub({ clocks: { ...fast, grace: 10 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  const second = await join1(hub, 'coder-2', { roles: ['coder'] });
  workers[0].socket.terminate();
  expect(await second.next('task.assign')).toMatchObject({ task_id: 't1', attempt: 2, payload: { goal: 'do t1' } });
  expect(await row(owner, 't1')).toMatchObject({ agent: 'coder-2', attempt: 2 });
});

test('R-HUB-10: goodbye gives work back at once and uses no attempt', async () => {
  const hub = await testHub({ clocks: fast });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  accept(workers[0], await workers[0].next('task.assign'));
  workers[0].send({ type: 'bye', payload: {} });
  expect((await status(owner, 'queued')).payload.reason).toContain('goodbye');
  expect(await workers[0].end()).toMatchObject({ code: 1000 });
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
  submit(first, await first.next('task.assign'));
  await owner.next('task.result');
  expect(await states()).toEqual(['done', 'offered', 'offered']);
});

test('R-HUB-11: a task with a parent at work uses its slot', async () => {
  const hub = await testHub({ concurrency: 1 });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1');
  const parent = await holder(owner, workers, 't1');
  accept(parent, await parent.next('task.assign'));
  assign(owner, 't1.sub', { parent: 't1' });
  const child = workers.find((worker) => worker !== parent) as Peer;
  expect(await child.next('task.assign')).toMatchObject({ task_id: 't1.sub' });
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
