import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { accept, assign, crew, statusOf, submit, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join1, result, testFolder, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { helloPeer, type Peer, type PeerFrame } from '../test/helpers/peer.ts';
import { watchedStorage } from '../test/helpers/watched-storage.ts';
import { startHub } from './index.ts';
import type { Change } from './storage.ts';

const minute = 60_000;
/** Heartbeats need real answers, so they stand still where a test moves the time. */
const still = { ping: 1e15, backoffBase: 1 };

function pointOf(welcome: PeerFrame, seq: number = welcome.payload.seq) {
  const { session, resume_token, epoch } = welcome.payload;
  return { resume: { session, resume_token, epoch, seq } };
}

function statuses(peer: Peer): string[] {
  return peer.frames
    .filter(({ type }) => type === 'task.status')
    .map(({ task_id, payload }) => `${task_id} ${payload.sub_state} ${payload.attempt}`);
}

test('R-HUB-62: a sign of life that comes after the attempt was lost is refused and renews nothing', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ...still, backoffBase: 1e9 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  clock.advance(5 * minute);
  const cancel = await workers[0].next('task.cancel');
  expect(cancel).toMatchObject({ from: 'hub', attempt: 1 });
  for (const type of ['task.progress', 'task.input', 'task.accept', 'task.event']) {
    const payload = { question: '?', event: { type: 'noted' } };
    const id = workers[0].send({ type, task_id: 't1', attempt: 1, payload });
    expect((await workers[0].next('error', ({ ref }) => ref === id)).payload.code).toBe('stale_attempt');
  }
  expect(workers[0].frames.some(({ type }) => type === 'lease')).toBe(false);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'queued', attempt: 1 });
});

test('R-HUB-62: who fell silent is asked again only when nobody else is there', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ...still, backoffBase: 0.001 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  const other = await join1(hub, 'coder-2', { roles: ['coder'] });
  clock.advance(5 * minute);
  await owner.ping();
  clock.advance(10);
  expect(await other.next('task.assign')).toMatchObject({ task_id: 't1', attempt: 2 });
});

test('R-HUB-62: work that is lost goes to another agent with what the first one left', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ...still, backoffBase: 0.001 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.progress', task_id: 't1', attempt: 1, payload: { checkpoint: { turn: 12 } } });
  await workers[0].next('lease');
  const other = await join1(hub, 'coder-2', { roles: ['coder'] });
  workers[0].socket.terminate();
  await other.ping();
  clock.advance(30_000);
  await owner.ping();
  clock.advance(10);
  expect(await other.next('task.assign')).toMatchObject({ attempt: 2, payload: { checkpoint: { turn: 12 } } });
});

test('R-HUB-62: a cancelled task ends when its worker says so, and without a word after 10 s to the ms', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: still });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  for (const [index, worker] of workers.entries()) {
    assign(owner, `t${index}`, {}, worker.name);
    await takeUp(worker);
    owner.send({ type: 'task.cancel', task_id: `t${index}`, payload: { reason: 'enough' } });
    await worker.next('task.cancel');
  }
  clock.advance(10_000 - 1);
  submit(workers[0], 't0', 1, 'half of it');
  expect((await statusOf(owner, 'cancelled')).task_id).toBe('t0');
  expect(await taskRow(owner, 't0')).toMatchObject({ sub_state: 'cancelled', reason: 'enough' });
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'cancelling' });
  clock.advance(1);
  expect((await statusOf(owner, 'cancelled')).task_id).toBe('t1');
  const late = workers[1].send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('late') });
  expect((await workers[1].next('error', ({ ref }) => ref === late)).payload.code).toBe('bad_state');
});

test('R-HUB-62: steps of the wall clock, forth and back, end no attempt, no offer and no grace', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: still });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2', 'coder-3');
  assign(owner, 'busy', {}, 'coder-1');
  await takeUp(workers[0]);
  const busyUntil = clock.now() + 20 * minute;
  workers[0].send({ type: 'task.progress', task_id: 'busy', attempt: 1, payload: { busy_until: busyUntil } });
  await workers[0].next('lease');
  assign(owner, 'lost', {}, 'coder-2');
  await takeUp(workers[1]);
  await workers[1].close();
  await owner.ping();
  for (const step of [48 * 60 * minute, -96 * 60 * minute]) {
    clock.stepWall(step);
    clock.advance(10_000);
    expect(await taskRow(owner, 'busy')).toMatchObject({ sub_state: 'working' });
    expect(await taskRow(owner, 'lost')).toMatchObject({ sub_state: 'working' });
  }
  clock.advance(10_000);
  expect(await taskRow(owner, 'lost')).toMatchObject({ sub_state: 'queued' });
  clock.advance(25 * minute - 30_000 - 1);
  expect(await taskRow(owner, 'busy')).toMatchObject({ sub_state: 'working' });
  clock.advance(1);
  expect(await taskRow(owner, 'busy')).toMatchObject({ sub_state: 'queued' });
});

test('R-HUB-63: a question outlives a restart of the hub, and so does its answer', async () => {
  const database = join(await testFolder(), 'log.db');
  const start = () => startHub({ port: 0, database, log: silentLog() });
  let hub = await start();
  const owner = await helloPeer(hub.url, 'owner');
  const worker = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  assign(owner.peer, 't1');
  await takeUp(worker.peer);
  owner.peer.acks = false;
  worker.peer.send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'which?' } });
  await owner.peer.next('task.input');
  await hub.close();
  hub = await start();
  const asked = await helloPeer(hub.url, 'owner', pointOf(owner.welcome, owner.welcome.payload.seq));
  const question = await asked.peer.next('task.input');
  expect(question.payload.question).toBe('which?');
  expect(await taskRow(asked.peer, 't1')).toMatchObject({ sub_state: 'input_required', attempt: 1 });
  asked.peer.send({ type: 'task.answer', task_id: 't1', ref: question.id ?? '', payload: { text: 'that' } });
  await asked.peer.ping();
  await hub.close();
  const last = await testHub({ database });
  const back = await helloPeer(last.url, 'coder-1', { roles: ['coder'], ...pointOf(worker.welcome) });
  expect(await back.peer.next('task.answer')).toMatchObject({
    ref: question.id,
    payload: { text: 'that' },
    attempt: 1,
  });
  expect(await taskRow(back.peer, 't1')).toMatchObject({ sub_state: 'working', agent: 'coder-1', attempt: 1 });
});

test('R-HUB-63: an answer that names no question comes to who asked with the one that is open, and a repeat is known', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  const id = workers[0].send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'which?' } });
  await owner.next('task.input');
  const answer = { type: 'task.answer', id: 'a1', task_id: 't1', payload: { text: 'that' } };
  owner.send(answer);
  expect(await workers[0].next('task.answer')).toMatchObject({ ref: id, payload: { text: 'that' } });
  owner.send(answer);
  await owner.ping();
  expect(owner.frames.filter(({ type }) => type === 'error')).toEqual([]);
  expect(workers[0].frames.filter(({ type }) => type === 'task.answer')).toEqual([]);
});

test('R-HUB-63: after a restart of the hub an answer to an earlier question is refused, and one that names none is for the open one', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog() });
  const owner = await helloPeer(before.url, 'owner');
  const worker = await helloPeer(before.url, 'coder-1', { roles: ['coder'] });
  assign(owner.peer, 't1');
  await takeUp(worker.peer);
  const ask = (question: string) =>
    worker.peer.send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question } });
  const first = ask('delete the old folder?');
  await owner.peer.next('task.input');
  owner.peer.send({ type: 'task.answer', task_id: 't1', ref: first, payload: { text: 'A' } });
  await worker.peer.next('task.answer');
  const second = ask('push to production?');
  const seq = (await owner.peer.next('task.input')).seq;
  await before.close();
  const hub = await testHub({ database });
  const asked = await helloPeer(hub.url, 'owner', pointOf(owner.welcome, seq));
  const back = await helloPeer(hub.url, 'coder-1', { roles: ['coder'], ...pointOf(worker.welcome) });
  const late = asked.peer.send({ type: 'task.answer', task_id: 't1', ref: first, payload: { text: 'A again' } });
  const refusal = await asked.peer.next('error', ({ ref }) => ref === late);
  expect(refusal.payload).toMatchObject({ code: 'bad_state', message: expect.stringContaining(second) });
  asked.peer.send({ type: 'task.answer', task_id: 't1', payload: { text: 'B' } });
  expect(await back.peer.next('task.answer', ({ payload }) => payload.text !== 'A')).toMatchObject({
    ref: second,
    payload: { text: 'B' },
  });
});

test('R-HUB-63: the answer to a question of an attempt that is over does not reach who asks something else now', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ...still, backoffBase: 0.001 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'the temporary folder?' } });
  const first = await owner.next('task.input');
  workers[0].send({ type: 'bye', payload: {} });
  await workers[0].end();
  const other = await join1(hub, 'coder-2', { roles: ['coder'] });
  clock.advance(10);
  await takeUp(other, 2);
  other.send({ type: 'task.input', task_id: 't1', attempt: 2, payload: { question: 'the database?' } });
  const second = await owner.next('task.input', ({ attempt }) => attempt === 2);
  const say = (about: object) =>
    owner.send({ type: 'task.answer', to: 'coder-2', task_id: 't1', payload: { text: 'yes' }, ...about });
  const refusal = async (id: string) => (await owner.next('error', ({ ref }) => ref === id)).payload.code;
  expect(await refusal(say({ attempt: 1, ref: first.id }))).toBe('stale_attempt');
  expect(await refusal(say({ ref: first.id }))).toBe('bad_state');
  expect(other.frames.some(({ type }) => type === 'task.answer')).toBe(false);
  say({ attempt: 2, ref: second.id });
  expect(await other.next('task.answer')).toMatchObject({ ref: second.id, payload: { text: 'yes' } });
});

test('R-HUB-63: who gives a task that nobody is there for is told so at once', async () => {
  const hub = await testHub();
  const owner = await join1(hub, 'owner');
  assign(owner, 't1', {}, 'nobody');
  expect(await owner.next('task.status')).toMatchObject({
    task_id: 't1',
    payload: { state: 'pending', sub_state: 'queued', reason: 'nobody is here for nobody yet' },
  });
});

test('R-HUB-63: the owner is told of every change it did not cause, once and in order, also when it was away and the hub restarted', async () => {
  const database = join(await testFolder(), 'log.db');
  const clocks = { backoffBase: 1, accept: 1e9 };
  const before = await startHub({ port: 0, database, log: silentLog(), clocks });
  const owner = await helloPeer(before.url, 'owner');
  assign(owner.peer, 't1');
  await owner.peer.ping();
  await owner.peer.close();
  const worker = await join1(before, 'coder-1', { roles: ['coder'] });
  const offer = await worker.next('task.assign');
  worker.send({ type: 'task.decline', task_id: 't1', attempt: 1, payload: { reason: 'busy' } });
  await accept(worker, await worker.next('task.assign'));
  worker.send({ type: 'task.release', task_id: 't1', attempt: 1, payload: {} });
  await worker.next('task.assign', ({ attempt }) => attempt === 2);
  expect(offer.attempt).toBe(1);
  await worker.ping();
  await before.close();

  const hub = await testHub({ database, clocks });
  const again = await join1(hub, 'coder-1', { roles: ['coder'] });
  await takeUp(again, 2);
  again.send({ type: 'task.input', task_id: 't1', attempt: 2, payload: { question: '?' } });
  submit(again, 't1', 2);
  await again.ping();
  const back = await helloPeer(hub.url, 'owner', pointOf(owner.welcome));
  await back.peer.wait(({ type }) => type === 'task.result');
  expect(statuses(back.peer)).toEqual([
    't1 offered 1',
    't1 queued 0',
    't1 offered 1',
    't1 working 1',
    't1 queued 1',
    't1 offered 2',
    't1 queued 1',
    't1 offered 2',
    't1 working 2',
    't1 input_required 2',
  ]);
  const seqs = back.peer.frames.flatMap(({ seq }) => seq ?? []);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
});

test('R-HUB-64: the slot of a task is given to the next one in the transaction of its result', async () => {
  const { openStorage, commits } = watchedStorage();
  const hub = await testHub({ openStorage, concurrency: 1 });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  assign(owner, 't2');
  await takeUp(workers[0]);
  submit(workers[0], 't1');
  await workers[0].next('task.assign', ({ task_id }) => task_id === 't2');
  const isResult = (change: Change) => change.kind === 'message' && change.row.type === 'task.result';
  const commit = commits.find((changes) => changes.some(isResult)) ?? [];
  const moves = commit.flatMap((change) =>
    change.kind === 'task' ? [`${change.task.taskId} ${change.expect?.subState} ${change.task.subState}`] : [],
  );
  expect(moves).toEqual(['t1 working done', 't2 queued offered']);
});

test('R-HUB-64: every change of a task is written with its words, guarded by where it stood', async () => {
  const { openStorage, commits } = watchedStorage();
  const hub = await testHub({ openStorage });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  submit(workers[0], 't1');
  await owner.next('task.result');
  const told = commits.flatMap((changes) => {
    const moves = changes.flatMap((change) => (change.kind === 'task' ? [change.task.subState] : []));
    const words = changes.flatMap((change) => (change.kind === 'message' ? [change.row.type] : []));
    return moves.length === 0 ? [] : [`${moves.join(' ')}: ${words.join(' ')}`];
  });
  expect(told).toEqual([
    'queued queued offered: task.assign task.status',
    'working: task.accept task.status',
    'done: task.result',
  ]);
});

test('R-HUB-65: the accepted result is named a duplicate also when its id is not remembered any more', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog() });
  const first = await crew(before, 'coder-1');
  assign(first.owner, 't1');
  await takeUp(first.workers[0]);
  const frame = { type: 'task.result', task_id: 't1', attempt: 1, payload: result('once'), id: 'r1' };
  first.workers[0].send(frame);
  await first.owner.next('task.result');
  await first.owner.ping();
  await before.close();
  const { openStorage } = watchedStorage();
  const hub = await testHub({
    database,
    openStorage: async (path) => {
      const opened = await openStorage(path);
      return { ...opened, storage: { ...opened.storage, recentIds: async () => [] } };
    },
  });
  const { owner, workers } = await crew(hub, 'coder-1');
  workers[0].send(frame);
  const accepted = await workers[0].next('accepted', ({ payload }) => payload.duplicates !== undefined);
  expect(accepted.payload.duplicates).toEqual(['r1']);
  await owner.ping();
  expect(owner.frames.some(({ type }) => type === 'task.result' || type === 'task.status')).toBe(false);
});
