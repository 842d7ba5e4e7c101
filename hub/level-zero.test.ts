import { once } from 'node:events';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { join0, join1, result, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { resultOf } from './level-zero.ts';

test('R-HUB-1: the real wscat pings, looks around and routes to another wscat', async () => {
  const hub = await testHub();
  const wscat = (name: string) =>
    execa('node_modules/.bin/wscat', ['-c', `${hub.url}?agent=${name}`], {
      stdin: 'pipe',
      buffer: false,
      reject: false,
    });
  const a = wscat('a');
  const b = wscat('b');
  const heard = { a: '', b: '' };
  a.stdout.on('data', (chunk) => {
    heard.a += chunk;
  });
  b.stdout.on('data', (chunk) => {
    heard.b += chunk;
  });
  const until = async (name: 'a' | 'b', text: string) => {
    const { stdout } = name === 'a' ? a : b;
    while (!heard[name].includes(text)) await once(stdout, 'data', { signal: AbortSignal.timeout(10_000) });
  };
  const look = await join0(hub, 'look');
  const present = async () => {
    look.send({ type: 'who' });
    return (await look.next('who')).payload.agents.length;
  };
  while ((await present()) < 3) await look.ping();
  a.stdin.write('{"type":"ping"}\n');
  await until('a', '"type":"pong"');
  a.stdin.write('{"type":"who"}\n');
  await until('a', '"name":"b"');
  a.stdin.write('{"type":"route","to":"b","payload":{"text":"hello b"}}\n');
  await until('b', 'hello b');
  a.kill();
  b.kill();
  await Promise.all([a, b]);
});

test('R-HUB-1: a name that is taken by a new level-0 connection stays reachable when the old one closes', async () => {
  const hub = await testHub();
  const first = await join0(hub, 'a');
  const second = await join0(hub, 'a');
  expect(await first.end()).toMatchObject({ code: 4003 });
  const b = await join0(hub, 'b');
  b.send({ type: 'route', to: 'a', payload: 'you' });
  expect((await second.next('route')).payload).toBe('you');
});

test('R-HUB-6: unknown and absent targets are told at once', async () => {
  const hub = await testHub({ clocks: { grace: 60_000 } });
  const a = await join0(hub, 'a');
  const code = async (to: string) => {
    const id = a.send({ type: 'route', to, payload: 1 });
    return (await a.next('error', ({ ref }) => ref === id)).payload.code;
  };
  expect(await code('nobody')).toBe('no_such_agent');
  expect(await code('hub')).toBe('no_such_agent');
  expect(await code('role:')).toBe('no_such_agent');
  expect(await code('role:coder')).toBe('no_worker');
  const b = await join0(hub, 'b');
  await b.close();
  await a.ping();
  expect(await code('b')).toBe('offline');
});

test('R-HUB-2: one of a role, all of a role, and everybody can be addressed', async () => {
  const hub = await testHub();
  const a = await join0(hub, 'a', '&role=coder');
  const one = await join0(hub, 'one', '&role=coder');
  const two = await join1(hub, 'two', { roles: ['coder', 'reviewer'] });
  a.send({ type: 'route', to: 'role:reviewer', payload: 'reviewer' });
  a.send({ type: 'route', to: 'role:coder/*', payload: 'coders' });
  a.send({ type: 'route', to: '*', payload: 'all' });
  await two.next('route', ({ payload }) => payload === 'all');
  await one.next('route', ({ payload }) => payload === 'all');
  expect(two.frames.map(({ payload }) => payload)).toEqual(['reviewer', 'coders']);
  expect(one.frames.map(({ payload }) => payload)).toEqual(['coders']);
  await a.ping();
  expect(a.frames).toEqual([]);
});

test('R-HUB-1: at level 0 a person may watch and read the log, by the type of the frame alone', async () => {
  const hub = await testHub();
  const me = await join0(hub, 'me');
  me.socket.send('{"type":"watch"}');
  me.send({ type: 'route', to: 'me', payload: 'hello' });
  expect((await me.next('event')).payload.frame).toMatchObject({ type: 'route', payload: 'hello', lsn: 1 });
  me.socket.send('{"type":"log"}');
  expect((await me.next('log')).payload.frames).toMatchObject([{ payload: 'hello', lsn: 1 }]);
});

test('R-HUB-17: a registered task, routed to a level-0 worker and back, goes from pending over running to done', async () => {
  const hub = await testHub();
  const owner = await join0(hub, 'coordinator');
  const worker = await join0(hub, 'coder', '&role=coder');
  const state = async () => {
    owner.send({ type: 'tasks' });
    return (await owner.next('tasks')).payload.tasks[0].state;
  };
  owner.send({ type: 'register_task', task_id: 't1' });
  expect(await state()).toBe('pending');
  const payload = { goal: 'add', artifacts: [], constraints: [], mine: 1 };
  owner.send({ type: 'route', to: 'coder', task_id: 't1', payload });
  expect(await worker.next('route')).toMatchObject({ from: 'coordinator', task_id: 't1', payload });
  expect(await state()).toBe('running');
  worker.send({ type: 'route', to: 'coordinator', task_id: 't1', payload: { status: 'working on it' } });
  expect((await owner.next('route')).payload.status).toBe('working on it');
  expect(await state()).toBe('running');
  const back = { status: 'success', summary: 'added', artifacts: [], issues: [], extra: true };
  worker.send({ type: 'route', to: 'coordinator', task_id: 't1', payload: back });
  expect(await owner.next('route')).toMatchObject({ from: 'coder', task_id: 't1', payload: back });
  expect(await state()).toBe('done');
});

test('R-HUB-17: a task for a level-0 worker that is absent is refused like any message, and can be routed again', async () => {
  const hub = await testHub();
  const owner = await join0(hub, 'coordinator');
  owner.send({ type: 'register_task', task_id: 't1' });
  owner.send({ type: 'route', to: 'coder', task_id: 't1', payload: { goal: 'x' } });
  expect((await owner.next('error')).payload.code).toBe('no_such_agent');
  const worker = await join0(hub, 'coder');
  owner.send({ type: 'route', to: 'coder', task_id: 't1', payload: { goal: 'x' } });
  await worker.next('route');
});

test('R-HUB-17: a level-1 owner and a level-0 worker understand each other', async () => {
  const hub = await testHub();
  const owner = await join1(hub, 'owner');
  const worker = await join0(hub, 'coder-1', '&role=coder');
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'add' } });
  const task = await worker.next('route');
  expect(task).toMatchObject({
    from: 'owner',
    to: 'coder-1',
    payload: { goal: 'add', artifacts: [], constraints: [] },
  });
  worker.send({
    type: 'route',
    to: 'owner',
    task_id: 't1',
    payload: { status: 'done', summary: 'ok', issues: 'none' },
  });
  expect(await owner.next('task.result')).toMatchObject({ attempt: 1, payload: result('ok') });
});

test('R-HUB-17: a level-0 owner and a level-1 worker understand each other', async () => {
  const hub = await testHub();
  const owner = await join0(hub, 'owner');
  const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
  owner.send({ type: 'register_task', task_id: 't1' });
  owner.send({ type: 'route', to: 'role:coder', task_id: 't1', payload: 'just do it' });
  expect(await worker.next('task.assign')).toMatchObject({
    from: 'owner',
    attempt: 1,
    payload: { goal: 'just do it' },
  });
  const id = worker.send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'how?' } });
  expect(await owner.next('route')).toMatchObject({ task_id: 't1', payload: { question: 'how?' } });
  const other = owner.send({ type: 'route', to: 'coder-1', task_id: 't1', ref: 'another', payload: 'no' });
  expect((await owner.next('error', ({ ref }) => ref === other)).payload.code).toBe('bad_state');
  owner.send({ type: 'route', to: 'coder-1', task_id: 't1', payload: 'well' });
  expect(await worker.next('task.answer')).toMatchObject({ ref: id, payload: { text: 'well' } });
  worker.send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('did it') });
  expect(await owner.next('route')).toMatchObject({ from: 'coder-1', payload: result('did it') });
});

test('R-HUB-17: a level-0 owner is told of a task that came to nothing', async () => {
  const hub = await testHub({ clocks: { queue: 10 } });
  const owner = await join0(hub, 'owner');
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'x' } });
  expect((await owner.next('route')).payload).toMatchObject({
    status: 'failed',
    summary: expect.stringContaining('no_worker'),
  });
});

test.each([
  [0, 'owner'],
  [0, 'hub'],
  [0, '*'],
  [1, 'owner'],
  [1, 'hub'],
] as const)(
  'R-HUB-9: a late result of a level-0 worker is no result to an owner of level %d, sent to %s',
  async (level, to) => {
    const hub = await testHub({ clocks: { backoffBase: 1, grace: 1 } });
    const owner = level === 0 ? await join0(hub, 'owner') : await join1(hub, 'owner');
    const gone = await join0(hub, 'w1', '&role=coder');
    owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'go' } });
    await gone.next('route');
    const second = await join0(hub, 'w2', '&role=coder');
    await gone.close();
    await second.next('route');
    const first = await join0(hub, 'w1');
    first.send({ type: 'route', to: 'owner', task_id: 't1', payload: 'still here' });
    expect((await owner.next('route')).payload).toBe('still here');
    const lateTo = async (whom: string) => {
      const id = first.send({ type: 'route', to: whom, task_id: 't1', payload: result('late') });
      expect((await first.next('error', ({ ref }) => ref === id)).payload.code).toBe('stale_attempt');
    };
    await lateTo(to);
    second.send({ type: 'route', to: 'owner', task_id: 't1', payload: result('fresh') });
    expect((await owner.next(level === 0 ? 'route' : 'task.result')).payload.summary).toBe('fresh');
    await lateTo(to);
    await owner.ping();
    expect(owner.frames.filter(({ type }) => type === 'route' || type === 'task.result')).toEqual([]);
    const told = owner.frames.filter(({ payload }) => payload.reason?.startsWith('stale result'));
    expect(told.map(({ payload }) => payload.agent)).toEqual(level === 0 ? [] : ['w2', 'w2']);
    owner.socket.send('{"type":"log","from":"owner","to":"hub","task_id":"","payload":{"type":"stale_result"}}');
    const stale = { task_id: 't1', from: 'w1', to: 'owner', payload: result('late') };
    expect((await owner.next('log')).payload.frames).toMatchObject([stale, stale]);
  },
);

test('R-HUB-9: a result in a task from somebody else to somebody else is a message, and an old attempt that is named is over', async () => {
  const hub = await testHub();
  const owner = await join0(hub, 'owner');
  const worker = await join0(hub, 'w');
  const third = await join0(hub, 'third');
  owner.send({ type: 'register_task', task_id: 't1' });
  owner.send({ type: 'route', to: 'w', task_id: 't1', payload: 'go' });
  await worker.next('route');
  third.send({ type: 'route', to: 'w', task_id: 't1', payload: result('for you') });
  expect((await worker.next('route')).payload.summary).toBe('for you');
  third.send({ type: 'route', to: 'owner', task_id: 'none', payload: result('of no task') });
  expect((await owner.next('route')).payload.summary).toBe('of no task');
  worker.send({ type: 'route', to: 'owner', task_id: 't1', attempt: 7, payload: result('old') });
  expect((await worker.next('error')).payload.code).toBe('stale_attempt');
  worker.send({ type: 'route', to: 'owner', task_id: 't1', attempt: 1, payload: result('now') });
  expect((await owner.next('route')).payload.summary).toBe('now');
});

test.each(['constructor', '__proto__', 'toString', 'running', 7, null])(
  'R-HUB-1: a message whose payload has the status %j is no result',
  (status) => {
    expect(resultOf({ status, summary: 'still at it' })).toBeUndefined();
  },
);

test('R-HUB-1: a task by a plain message to a level-0 name that is away waits for it, and is not at work', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const owner = await join1(hub, 'owner');
  const first = await join1(hub, 'w');
  owner.send({ type: 'route', to: 'w', payload: 'hi' });
  await first.next('route');
  await first.ping();
  await first.close();
  clock.advance(30_000);
  const second = await join0(hub, 'w');
  await second.ping();
  await second.close();
  await owner.ping();
  owner.send({ type: 'register_task', task_id: 't1' });
  owner.send({ type: 'route', to: 'w', task_id: 't1', payload: 'go' });
  expect((await owner.next('task.status')).payload).toMatchObject({
    sub_state: 'queued',
    reason: 'nobody is here for w yet',
  });
  const third = await join0(hub, 'w');
  expect(await third.next('route')).toMatchObject({ task_id: 't1', attempt: 1, payload: { goal: 'go' } });
  third.send({ type: 'route', to: 'owner', task_id: 't1', payload: result('there now') });
  expect((await owner.next('task.result')).payload.summary).toBe('there now');
});
