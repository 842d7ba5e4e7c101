import { expect, onTestFinished, test } from 'vitest';
import { assign, crew, statusOf, submit, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join0, join1, result, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';
import type { RunningHub } from './index.ts';

const limits = { mailboxMessages: 10, rate: 0 };

async function waiting(hub: RunningHub, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${hub.port}/v1/agents?all=1`);
  const { agents } = (await answer.json()) as { agents: { name: string; waiting: number }[] };
  return agents.find((agent) => agent.name === name)?.waiting ?? 0;
}

/** Sends messages until no more is taken for this name. */
async function fill(from: Peer, name: string, payload = 'x'): Promise<void> {
  for (;;) {
    const id = from.send({ type: 'route', to: name, payload });
    await from.ping();
    if (from.frames.some(({ ref, payload }) => ref === id && payload.code === 'mailbox_full')) return;
  }
}

test('R-HUB-108: results of attempts that a stranger never had are refused, and neither logged nor told to the owner', async () => {
  const hub = await testHub({ limits });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  const strangers = [await join1(hub, 'mallory'), await join0(hub, 'eve')];
  const said = owner.frames.length;
  for (const stranger of strangers) {
    for (const attempt of [1, 2, 7]) {
      const id = stranger.send({ type: 'task.result', task_id: 't1', attempt, payload: result('mine') });
      const refusal = await stranger.next('error', ({ ref }) => ref === id);
      expect(refusal.payload).toMatchObject({
        code: 'stale_attempt',
        message: `attempt ${attempt} of t1 is not yours, or not any more; stop working on it`,
      });
    }
  }
  const id = strangers[1]?.send({ type: 'route', to: 'owner', task_id: 't1', payload: result('mine') });
  const refusal = await strangers[1]?.next('error', ({ ref }) => ref === id);
  expect(refusal?.payload.message).toBe('t1 is not yours, or not any more; stop working on it');
  await owner.ping();
  expect(owner.frames.slice(said).filter(({ type }) => type !== 'accepted')).toEqual([]);
  owner.send({ type: 'log', payload: { type: 'stale_result' } });
  expect((await owner.next('log')).payload.frames).toEqual([]);
});

test('R-HUB-108: a late result counts as one when its sender had the attempt, and from nobody else', async () => {
  const hub = await testHub({ clocks: { backoffBase: 1 } });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1', {}, 'coder-1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.release', task_id: 't1', attempt: 1, payload: {} });
  await takeUp(workers[0], 2);
  for (const worker of workers) {
    const id = submit(worker, 't1', 1, worker.name);
    await worker.next('error', ({ ref }) => ref === id);
  }
  owner.send({ type: 'log', payload: { type: 'stale_result' } });
  expect((await owner.next('log')).payload.frames).toMatchObject([{ from: 'coder-1' }]);
});

test('R-HUB-108: a full mailbox takes the end of each task and no other word about it', async () => {
  const hub = await testHub({ limits, clocks: { backoffBase: 1 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  const [coder] = workers;
  owner.acks = false;
  assign(owner, 't1');
  await takeUp(coder);
  await fill(coder, 'owner');
  const before = await waiting(hub, 'owner');
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    coder.send({ type: 'task.release', task_id: 't1', attempt, payload: {} });
    await takeUp(coder, attempt + 1);
  }
  expect(await waiting(hub, 'owner')).toBe(before);
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'enough' } });
  await coder.next('task.cancel');
  submit(coder, 't1', 9);
  await statusOf(owner, 'cancelled');
  expect(await waiting(hub, 'owner')).toBe(before + 1);
});

test('R-HUB-108: who asks an owner for whom too much waits is told so, and its result is taken', async () => {
  const hub = await testHub({ limits });
  const { owner, workers } = await crew(hub, 'coder-1');
  const [coder] = workers;
  owner.acks = false;
  assign(owner, 't1');
  await takeUp(coder);
  await fill(coder, 'owner');
  const id = coder.send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: '?' } });
  expect((await coder.next('error', ({ ref }) => ref === id)).payload.code).toBe('mailbox_full');
  submit(coder, 't1');
  expect((await owner.next('task.result')).payload.summary).toBe('done');
});

test('R-HUB-108: who does not read of its tasks cannot give more, and may once it does', async () => {
  const hub = await testHub({ limits });
  const owner = await join1(hub, 'owner');
  const other = await join1(hub, 'other');
  owner.acks = false;
  await fill(other, 'owner');
  for (const type of ['task.assign', 'register_task']) {
    const id = owner.send({ type, to: 'role:coder', task_id: 't1', payload: { goal: 'go' } });
    expect((await owner.next('error', ({ ref }) => ref === id)).payload).toMatchObject({
      code: 'mailbox_full',
      retryable: true,
    });
  }
  owner.send({ type: 'ack', payload: { seq: Math.max(...owner.frames.map(({ seq }) => seq ?? 0)) } });
  assign(owner, 't1');
  await statusOf(owner, 'queued');
});

test('R-HUB-108: offers that are cancelled do not fill the mailbox of who is offered them', async () => {
  const hub = await testHub({ limits });
  const { owner, workers } = await crew(hub, 'victim');
  workers[0].acks = false;
  for (let count = 1; count <= 30; count += 1) {
    assign(owner, `t${count}`);
    await workers[0].next('task.assign');
    owner.send({ type: 'task.cancel', task_id: `t${count}`, payload: { reason: 'no' } });
    await statusOf(owner, 'cancelled');
  }
  expect(await waiting(hub, 'victim')).toBe(10);
});

test('R-HUB-108: a task by a plain message is refused when too much waits for its worker', async () => {
  const hub = await testHub({ limits });
  const owner = await join1(hub, 'owner');
  const worker = await join0(hub, 'w');
  worker.socket.pause();
  onTestFinished(() => worker.socket.resume());
  await fill(owner, 'w', 'x'.repeat(400_000));
  owner.send({ type: 'register_task', task_id: 't1' });
  const id = owner.send({ type: 'route', to: 'w', task_id: 't1', payload: 'go' });
  expect((await owner.next('error', ({ ref }) => ref === id)).payload.code).toBe('mailbox_full');
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'queued', attempt: 0 });
});
