import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { accept, assign, crew, statusOf, submit, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join0, join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { type ManualClock, manualClock } from '../test/helpers/manual-clock.ts';
import { connectPeer, helloPeer } from '../test/helpers/peer.ts';
import { startHub } from './index.ts';

const minute = 60_000;
/** Heartbeats need real answers, so they stand still where a test moves the time. */
const still = { ping: 1e15 };

async function hubAt(clock: ManualClock, options: Parameters<typeof testHub>[0] = {}) {
  return testHub({ clock, ...options, clocks: { ...still, ...options.clocks } });
}

/** Moves the time until `peer` has heard what it waits for. */
async function moveUntil<T>(clock: ManualClock, ms: number, heard: Promise<T>): Promise<T> {
  let done = false;
  const ending = heard.finally(() => {
    done = true;
  });
  while (!done) {
    clock.advance(ms);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return ending;
}

test('R-HUB-10: a mute worker is replaced after 5 min, three times in all, and then the task is dead', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1');
  const worker = workers[0];
  assign(owner, 't1');
  for (const attempt of [1, 2, 3]) {
    await accept(
      worker,
      await moveUntil(
        clock,
        100,
        worker.next('task.assign', (frame) => frame.attempt === attempt),
      ),
    );
    clock.advance(5 * minute - 1);
    expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'working', attempt });
    clock.advance(1);
    expect(await worker.next('task.cancel')).toMatchObject({ attempt });
  }
  expect((await statusOf(owner, 'dead')).payload).toMatchObject({ state: 'failed', attempt: 3 });
});

test('R-HUB-10: a worker that gives signs of life for 12 min finishes in attempt 1', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1');
  const worker = workers[0];
  assign(owner, 't1');
  await takeUp(worker);
  for (let minutes = 0; minutes < 12; minutes += 4) {
    clock.advance(4 * minute);
    worker.send({ type: 'task.progress', task_id: 't1', attempt: 1, payload: {} });
    await worker.next('lease');
  }
  submit(worker, 't1');
  expect(await owner.next('task.result')).toMatchObject({ attempt: 1 });
});

test('R-HUB-10: silence counts from the end of a call that was announced, and a shorter announcement replaces a longer one', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1');
  const worker = workers[0];
  assign(owner, 't1');
  await takeUp(worker);
  const announce = async (ms: number) => {
    const busyUntil = clock.now() + ms;
    worker.send({ type: 'task.progress', task_id: 't1', attempt: 1, payload: { busy_until: busyUntil } });
    return (await worker.next('lease')).payload.until - clock.now();
  };
  expect(await announce(20 * minute)).toBe(25 * minute);
  expect(await announce(10 * minute)).toBe(15 * minute);
  clock.advance(15 * minute - 1);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'working' });
  clock.advance(1);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'queued' });
});

test('R-HUB-10: an attempt ends after 30 min however lively, after its own time when it has one, and never with 0', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock, { clocks: { silence: 0 }, concurrency: 3 });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2', 'coder-3');
  assign(owner, 'plain', {}, 'coder-1');
  assign(owner, 'hour', { attempt_timeout_ms: 60 * minute }, 'coder-2');
  assign(owner, 'endless', { attempt_timeout_ms: 0 }, 'coder-3');
  const offers = await Promise.all(workers.map((worker) => takeUp(worker)));
  expect(offers.map(({ payload }) => payload.deadline && payload.deadline - clock.now())).toEqual([
    30 * minute,
    60 * minute,
    undefined,
  ]);
  const states = async () => {
    owner.send({ type: 'tasks' });
    const rows = (await owner.next('tasks')).payload.tasks as { task_id: string; sub_state: string }[];
    return rows.map((row) => `${row.task_id} ${row.sub_state}`).sort();
  };
  clock.advance(30 * minute - 1);
  expect(await states()).toEqual(['endless working', 'hour working', 'plain working']);
  clock.advance(1);
  expect(await states()).toEqual(['endless working', 'hour working', 'plain queued']);
  clock.advance(30 * minute);
  expect((await states()).slice(0, 2)).toEqual(['endless working', 'hour queued']);
});

test('R-HUB-10: a correction of the wall clock ends nothing', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  clock.stepWall(24 * 60 * minute);
  clock.advance(minute);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'working' });
});

test('R-HUB-10: while an answer is awaited neither silence nor attempt runs', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1');
  const worker = workers[0];
  assign(owner, 't1', { silence_timeout_ms: 60 * minute });
  await takeUp(worker);
  clock.advance(20 * minute);
  worker.send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: '?' } });
  await owner.next('task.input');
  clock.advance(24 * 60 * minute);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'input_required', attempt: 1 });
  owner.send({ type: 'task.answer', task_id: 't1', payload: { text: '!' } });
  await worker.next('task.answer');
  clock.advance(10 * minute - 1);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'working' });
  clock.advance(1);
  expect((await statusOf(owner, 'queued')).payload.reason).toContain('longer than');
});

test('R-HUB-10: an offer that is not accepted within 15 s goes to another agent and uses no attempt', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1');
  const offers = Promise.all(workers.map((worker) => worker.next('task.assign')));
  clock.advance(15_000);
  expect((await moveUntil(clock, 1_000, offers)).map(({ attempt }) => attempt)).toEqual([1, 1]);
});

test('R-HUB-10: a result at the last moment counts, one a moment later does not', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 'early', {}, 'coder-1');
  assign(owner, 'late', {}, 'coder-2');
  await takeUp(workers[0]);
  await takeUp(workers[1]);
  clock.advance(5 * minute - 1);
  submit(workers[0], 'early');
  await owner.next('task.result');
  clock.advance(1);
  await owner.ping();
  const id = submit(workers[1], 'late');
  expect((await workers[1].next('error', ({ ref }) => ref === id)).payload.code).toBe('stale_attempt');
});

test('R-HUB-10: a task that nobody comes for fails with no_worker after 10 min, counted while nobody is there', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner } = await crew(hub);
  assign(owner, 't1');
  await owner.ping();
  clock.advance(9 * minute);
  const passing = await join1(hub, 'coder-1', { roles: ['coder'] });
  await passing.next('task.assign');
  passing.send({ type: 'task.decline', task_id: 't1', attempt: 1, payload: { reason: 'not me' } });
  await passing.close();
  await owner.ping();
  clock.advance(9 * minute);
  expect(await taskRow(owner, 't1')).toMatchObject({ sub_state: 'queued' });
  clock.advance(minute);
  expect((await statusOf(owner, 'failed')).payload.reason).toContain('no_worker');
});

test('R-HUB-10: the queue clock stands still while somebody of the role is there, busy or not', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock, { clocks: { silence: 0 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1', { attempt_timeout_ms: 0 });
  await takeUp(workers[0]);
  assign(owner, 't2');
  await owner.ping();
  clock.advance(60 * minute);
  expect(await taskRow(owner, 't2')).toMatchObject({ sub_state: 'queued' });
});

test('R-HUB-10: an offer is void when its agent goes away; work waits 30 s for its session and is then lost', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 'work', {}, 'coder-1');
  await takeUp(workers[0]);
  assign(owner, 'offer', {}, 'coder-2');
  await workers[1].next('task.assign');
  await workers[1].close();
  expect((await statusOf(owner, 'queued')).task_id).toBe('offer');
  await workers[0].close();
  await owner.ping();
  clock.advance(30_000 - 1);
  expect(await taskRow(owner, 'work')).toMatchObject({ sub_state: 'working' });
  clock.advance(1);
  const lost = await owner.next(
    'task.status',
    ({ task_id, payload }) => task_id === 'work' && payload.sub_state === 'queued',
  );
  expect(lost.payload.reason).toContain('did not come back');
});

test('R-HUB-10: work of a lost agent is handed to another one of the role', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  const second = await join1(hub, 'coder-2', { roles: ['coder'] });
  await workers[0].close();
  await owner.ping();
  clock.advance(30_000);
  const offer = await moveUntil(clock, 100, second.next('task.assign'));
  expect(offer).toMatchObject({ task_id: 't1', attempt: 2, payload: { goal: 'do t1' } });
  expect(await taskRow(owner, 't1')).toMatchObject({ agent: 'coder-2', attempt: 2 });
});

test('R-HUB-10: goodbye gives work back at once and uses no attempt', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1', { max_attempts: 1 });
  await takeUp(workers[0]);
  workers[0].send({ type: 'bye', payload: {} });
  expect((await statusOf(owner, 'queued')).payload.reason).toContain('goodbye');
  expect(await workers[0].end()).toMatchObject({ code: 1000 });
});

test('R-HUB-10: a silent level-0 worker is asked again, and work goes on when it reconnects under its name', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const owner = await join0(hub, 'owner');
  const worker = await join0(hub, 'coder');
  owner.send({ type: 'register_task', task_id: 't1' });
  owner.send({ type: 'route', to: 'coder', task_id: 't1', payload: { goal: 'x' } });
  await worker.next('route');
  clock.advance(5 * minute);
  const again = await moveUntil(clock, 100, worker.next('route'));
  expect(again).toMatchObject({ from: 'owner', task_id: 't1', attempt: 2, payload: { goal: 'x' } });
  await worker.close();
  const back = await join0(hub, 'coder');
  clock.advance(minute);
  back.send({ type: 'route', to: 'owner', task_id: 't1', payload: { status: 'success', summary: 'kept' } });
  expect((await owner.next('route')).payload.summary).toBe('kept');
});

test('R-HUB-15: what was announced as level 1 has to say hello within 10 s', async () => {
  const clock = manualClock();
  const hub = await hubAt(clock);
  const a = await connectPeer(hub.url, 'a', { query: '&v=1' });
  a.send({ type: 'route', to: 'b' });
  expect((await a.next('error')).payload.code).toBe('bad_state');
  clock.advance(10_000);
  expect(await a.end()).toMatchObject({ code: 4500 });
});

test('R-HUB-13: after a restart work whose agent does not come back within the grace is lost and tried again', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog() });
  const owner = await helloPeer(before.url, 'owner');
  const worker = await helloPeer(before.url, 'coder-1', { roles: ['coder'] });
  const payload = { goal: 'keep this', artifacts: [], constraints: ['c'] };
  owner.peer.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload });
  await takeUp(worker.peer);
  await before.close();
  const clock = manualClock();
  const hub = await hubAt(clock, { database });
  const other = await join1(hub, 'coder-2', { roles: ['coder'] });
  clock.advance(30_000 - 1);
  expect(await taskRow(other, 't1')).toMatchObject({ sub_state: 'working', agent: 'coder-1' });
  const offer = await moveUntil(clock, 100, other.next('task.assign'));
  expect(offer).toMatchObject({ from: 'owner', attempt: 2, payload });
});

test('R-HUB-13: a worker that said it is busy may be as quiet after a restart of the hub as before it', async () => {
  const database = join(await testFolder(), 'log.db');
  const clock = manualClock();
  const clocks = { ...still, grace: 1e9, attempt: 0 };
  const before = await startHub({ port: 0, database, log: silentLog(), clock, clocks, concurrency: 4 });
  const owner = await join1(before, 'owner');
  const workers = await Promise.all(['busy', 'idle', 'endless', 'asked'].map((name) => helloPeer(before.url, name)));
  for (const { peer } of workers) {
    assign(owner, peer.name, {}, peer.name);
    await takeUp(peer);
  }
  const [busy, , endless, asked] = workers.map(({ peer }) => peer);
  const say = (peer: typeof busy, payload: object) =>
    peer?.send({ type: 'task.progress', task_id: peer.name, attempt: 1, payload });
  say(busy, { busy_until: clock.now() + 30 * minute });
  say(busy, { note: 'still at it' });
  say(endless, { busy_until: clock.now() + 1000 * minute });
  // Its question ends the call that it announced.
  say(asked, { busy_until: clock.now() + 30 * minute });
  asked?.send({ type: 'task.input', task_id: 'asked', attempt: 1, payload: { question: '?' } });
  await owner.next('task.input');
  owner.send({ type: 'task.answer', task_id: 'asked', payload: { text: '!' } });
  for (const { peer } of workers) await peer.ping();
  await owner.ping();
  await before.close();
  const hub = await hubAt(clock, { database, clocks, concurrency: 4 });
  const looking = await join1(hub, 'look');
  const lost = async () => {
    looking.send({ type: 'tasks', payload: {} });
    const rows: { task_id: string; sub_state: string }[] = (await looking.next('tasks')).payload.tasks;
    return rows.filter(({ sub_state }) => sub_state !== 'working').map(({ task_id }) => task_id);
  };
  clock.advance(5 * minute);
  await expect.poll(lost).toEqual(['asked', 'idle']);
  clock.advance(30 * minute - 1);
  await looking.ping();
  expect(await lost()).toEqual(['asked', 'idle']);
  clock.advance(1);
  await expect.poll(lost).toEqual(['asked', 'busy', 'idle']);
  clock.advance(30 * minute - 1);
  expect(await lost()).toEqual(['asked', 'busy', 'idle']);
  clock.advance(1);
  await expect.poll(lost).toEqual(['asked', 'busy', 'endless', 'idle']);
});
