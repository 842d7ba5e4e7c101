import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { connectPeer, helloPeer } from '../test/helpers/peer.ts';
import { type RunningHub, startHub } from './index.ts';

let hub: RunningHub | undefined;

async function start() {
  hub = await startHub({ port: 0, database: ':memory:', log: silentLog() });
  return hub.url;
}

afterEach(async () => {
  await hub?.close();
  hub = undefined;
});

test('R-HUB-1: a level-0 peer pings and routes to another one with nothing but a type, a target and a payload', async () => {
  const url = await start();
  const a = await connectPeer(url, 'a');
  const b = await connectPeer(url, 'b');
  a.socket.send('{"type":"ping"}');
  await a.next('pong');
  a.socket.send('{"type":"route","to":"b","payload":"hi"}');
  expect(await b.next('route')).toMatchObject({ from: 'a', to: 'b', task_id: '', payload: 'hi' });
  a.socket.send('{"type":"who"}');
  expect((await a.next('who')).payload.agents.map((row: { name: string }) => row.name)).toEqual(['a', 'b']);
});

test('R-HUB-2: hello is answered with welcome, a message with accepted, and the recipient gets it numbered', async () => {
  const url = await start();
  const { peer: a, welcome } = await helloPeer(url, 'a');
  expect(welcome.payload).toMatchObject({ v: 1, resume: { state: 'new' }, limits: { max_inflight: 1024 } });
  const { peer: b } = await helloPeer(url, 'b');
  a.send({ type: 'route', to: 'b', payload: { text: 'one' } });
  expect((await a.next('accepted')).payload).toEqual({ upto: 2 });
  const first = await b.next('route');
  a.send({ type: 'route', to: 'b', payload: { text: 'two' } });
  const second = await b.next('route');
  expect(second).toMatchObject({ from: 'a', payload: { text: 'two' }, prev: first.seq });
});

test.each([
  ['goodbye', ['{"type":"bye","from":"a","to":"hub","task_id":"","payload":{}}'], 1000],
  ['the last bad frame', Array.from({ length: 20 }, () => '{oops'), 4501],
])('R-HUB-2: what is sent right before %s is accepted before the connection ends', async (_title, ends, code) => {
  const url = await start();
  const { peer: a } = await helloPeer(url, 'a');
  await helloPeer(url, 'b');
  a.send({ type: 'route', to: 'b', payload: 'last words' });
  for (const end of ends) a.socket.send(end);
  expect(await a.end()).toMatchObject({ code });
  const told = a.frames.filter(({ type }) => type === 'accepted').map(({ payload }) => payload.upto);
  expect(told.at(-1)).toBeGreaterThanOrEqual(2);
});

test('R-HUB-8: a task goes from its owner to a worker of the role and the result comes back', async () => {
  const url = await start();
  const { peer: owner } = await helloPeer(url, 'owner');
  const { peer: worker } = await helloPeer(url, 'coder-1', { roles: ['coder'] });
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'add' } });
  const offer = await worker.next('task.assign');
  expect(offer).toMatchObject({
    from: 'owner',
    task_id: 't1',
    attempt: 1,
    payload: { goal: 'add', lease_ms: 300_000 },
  });
  worker.send({ type: 'task.accept', task_id: 't1', attempt: 1 });
  worker.send({ type: 'task.event', task_id: 't1', attempt: 1, payload: { event: { type: 'note' } } });
  const result = { status: 'success', summary: 'added', artifacts: [], issues: [] };
  worker.send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result });
  expect(await owner.next('task.result')).toMatchObject({ from: 'coder-1', to: 'owner', payload: result, attempt: 1 });
  expect(owner.frames.filter(({ type }) => type === 'task.status').map(({ payload }) => payload.sub_state)).toEqual([
    'offered',
    'working',
  ]);
  owner.send({ type: 'tasks' });
  expect((await owner.next('tasks')).payload.tasks).toMatchObject([{ task_id: 't1', state: 'done', summary: 'added' }]);
  owner.send({ type: 'log', payload: { task_id: 't1' } });
  expect((await owner.next('log')).payload.frames.map((frame: { type: string }) => frame.type)).toEqual([
    'task.assign',
    'task.status',
    'task.accept',
    'task.status',
    'task.event',
    'task.result',
  ]);
});
