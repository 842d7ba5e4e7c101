import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { join0, join1, result, testFolder, testHub } from '../test/helpers/hub.ts';
import { connectPeer, helloPeer, type Peer, type PeerFrame } from '../test/helpers/peer.ts';
import { watchedStorage } from '../test/helpers/watched-storage.ts';
import { startHub } from './index.ts';

function pointOf(welcome: PeerFrame, seq: number = welcome.payload.seq) {
  const { session, resume_token, epoch } = welcome.payload;
  return { resume: { session, resume_token, epoch, seq } };
}

test('R-HUB-7: a session resumes without a single message so far, twice in a row', async () => {
  const hub = await testHub();
  const first = await helloPeer(hub.url, 'a');
  await first.peer.close();
  const second = await helloPeer(hub.url, 'a', pointOf(first.welcome));
  expect(second.welcome.payload).toMatchObject({
    session: first.welcome.payload.session,
    resume: { state: 'recovered' },
  });
  await second.peer.close();
  const third = await helloPeer(hub.url, 'a', pointOf(first.welcome));
  expect(third.welcome.payload.resume).toEqual({ state: 'recovered' });
});

test('R-HUB-7: what came meanwhile is delivered, what was had is not delivered again', async () => {
  const hub = await testHub();
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  first.peer.acks = false;
  for (const text of ['one', 'two']) sender.send({ type: 'route', to: 'a', payload: text });
  const one = await first.peer.next('route');
  const two = await first.peer.next('route');
  first.peer.socket.terminate();
  sender.send({ type: 'route', to: 'a', payload: 'three' });
  await sender.ping();
  const again = await helloPeer(hub.url, 'a', pointOf(first.welcome, one.seq));
  expect(again.welcome.payload).toMatchObject({ seq: one.seq, resume: { state: 'recovered' } });
  expect(await again.peer.next('route')).toMatchObject({ payload: 'two', seq: two.seq, prev: one.seq, redelivered: 1 });
  const three = await again.peer.next('route');
  expect(three).toMatchObject({ payload: 'three', prev: two.seq });
  expect(three).not.toHaveProperty('redelivered');
});

test('R-HUB-7: a resume while the old socket is half open replaces it, and its late close does not unregister the new one', async () => {
  const hub = await testHub({ clocks: { grace: 10, backoffBase: 1 } });
  const owner = await join1(hub, 'owner');
  const first = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  owner.send({ type: 'task.assign', to: 'coder-1', task_id: 't1', payload: { goal: 'x' } });
  await first.peer.next('task.assign');
  first.peer.send({ type: 'task.accept', task_id: 't1', attempt: 1 });
  await first.peer.ping();
  const second = await helloPeer(hub.url, 'coder-1', { roles: ['coder'], ...pointOf(first.welcome) });
  expect(second.welcome.payload.resume.state).toBe('recovered');
  expect(await first.peer.end()).toMatchObject({ code: 4003 });
  await new Promise((resolve) => setTimeout(resolve, 30));
  owner.send({ type: 'route', to: 'coder-1', payload: 'still there?' });
  expect((await second.peer.next('route')).payload).toBe('still there?');
  second.peer.send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('kept') });
  expect(await owner.next('task.result')).toMatchObject({ attempt: 1, payload: { summary: 'kept' } });
});

test('R-HUB-7: an offer that was under way when its connection was replaced is made again', async () => {
  const hub = await testHub({ clocks: { backoffBase: 1 } });
  const owner = await join1(hub, 'owner');
  const first = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  owner.send({ type: 'task.assign', to: 'coder-1', task_id: 't1', payload: { goal: 'x' } });
  await first.peer.next('task.assign');
  const second = await helloPeer(hub.url, 'coder-1', pointOf(first.welcome));
  expect(await second.peer.next('task.assign')).toMatchObject({ task_id: 't1', attempt: 1 });
});

test('R-HUB-7: another log, an unknown session and a foreign position are gaps that say why', async () => {
  const hub = await testHub();
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  const other = await join1(hub, 'b');
  sender.send({ type: 'route', to: 'a', payload: 'for a' });
  const own = await first.peer.next('route');
  sender.send({ type: 'route', to: 'b', payload: 'for b' });
  const foreign = await other.next('route');
  await first.peer.ping();
  await first.peer.close();
  const gap = async (point: object) => {
    const { peer, welcome } = await helloPeer(hub.url, 'a', { resume: { ...pointOf(first.welcome).resume, ...point } });
    await peer.close();
    return welcome.payload.resume;
  };
  expect(await gap({ seq: foreign.seq })).toMatchObject({
    state: 'gap',
    reason: expect.stringContaining('not of this mailbox'),
  });
  const again = await helloPeer(hub.url, 'a');
  await again.peer.close();
  expect(await gap({ seq: own.seq })).toMatchObject({ state: 'gap', reason: expect.stringContaining('not known') });
  expect(await gap({ epoch: 'elsewhere' })).toMatchObject({ state: 'gap', reason: expect.stringContaining('another') });
});

test('R-HUB-7: a position before what was acknowledged is a gap', async () => {
  const hub = await testHub();
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  sender.send({ type: 'route', to: 'a', payload: 'acknowledged' });
  await first.peer.next('route');
  await first.peer.ping();
  await first.peer.close();
  const { welcome } = await helloPeer(hub.url, 'a', pointOf(first.welcome));
  expect(welcome.payload.resume).toMatchObject({ state: 'gap', from: 0 });
});

test('R-HUB-100: who comes back is told what it still holds, offers excepted, and can give it back at once', async () => {
  const hub = await testHub({ clocks: { backoffBase: 1 }, concurrency: 5 });
  const owner = await join1(hub, 'owner');
  const first = await helloPeer(hub.url, 'coder-1', { roles: ['coder'], max_concurrency: 2 });
  expect(first.welcome.payload.tasks).toEqual([]);
  for (const task_id of ['t1', 't2']) {
    owner.send({ type: 'task.assign', to: 'coder-1', task_id, payload: { goal: 'x' } });
    await first.peer.next('task.assign');
  }
  first.peer.send({ type: 'task.accept', task_id: 't1', attempt: 1 });
  await first.peer.ping();
  first.peer.socket.terminate();
  const second = await helloPeer(hub.url, 'coder-1', { roles: ['coder'], ...pointOf(first.welcome) });
  expect(second.welcome.payload).toMatchObject({
    resume: { state: 'recovered' },
    tasks: [{ task_id: 't1', attempt: 1 }],
  });
  second.peer.send({ type: 'task.release', task_id: 't1', attempt: 1, payload: {} });
  expect(await second.peer.next('task.assign', ({ task_id }) => task_id === 't1')).toMatchObject({ attempt: 2 });
  second.peer.send({ type: 'task.accept', task_id: 't1', attempt: 2 });
  await second.peer.ping();
  await second.peer.close();
  const third = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  expect(third.welcome.payload.tasks).toEqual([]);
});

test('R-HUB-10: a new session of the same name loses the old attempts at once', async () => {
  const hub = await testHub({ clocks: { backoffBase: 1 } });
  const owner = await join1(hub, 'owner');
  const first = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'x' } });
  await first.peer.next('task.assign');
  first.peer.send({ type: 'task.accept', task_id: 't1', attempt: 1 });
  await first.peer.ping();
  first.peer.socket.terminate();
  await owner.ping();
  const second = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  expect(second.welcome.payload.resume.state).toBe('new');
  expect(await second.peer.next('task.assign')).toMatchObject({ task_id: 't1', attempt: 2 });
  const lost = await owner.next('task.status', ({ payload }) => payload.sub_state === 'queued');
  expect(lost.payload.reason).toContain('without its session');
});

test('R-HUB-5: a name in use is not given to a stranger at either level', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  const stranger = await connectPeer(hub.url, 'a', { query: '&v=1' });
  stranger.send({ type: 'hello', payload: { v: 1 } });
  expect((await stranger.next('error')).payload.code).toBe('name_taken');
  expect(await stranger.end()).toMatchObject({ code: 4502 });
  const plain = await join0(hub, 'a');
  plain.send({ type: 'ping' });
  expect(await plain.end()).toMatchObject({ code: 4502 });
  await a.ping();
});

test('R-HUB-5: a token that is bound to the name takes it over', async () => {
  const hub = await testHub({ auth: 'required' });
  const token = hub.grant({ agent: 'a', scopes: ['work'] });
  const options = { headers: { authorization: `Bearer ${token}` } };
  const first = await helloPeer(hub.url, 'a', {}, options);
  const second = await helloPeer(hub.url, 'a', {}, options);
  expect(await first.peer.end()).toMatchObject({ code: 4003 });
  await second.peer.ping();
});

test('R-HUB-5: a token that is taken back ends its connections for good', async () => {
  const hub = await testHub({ auth: 'required' });
  const token = hub.grant({ agent: 'a', scopes: ['work'] });
  const { peer } = await helloPeer(hub.url, 'a', {}, { headers: { authorization: `Bearer ${token}` } });
  hub.revoke(token);
  expect(await peer.end()).toMatchObject({ code: 4502 });
});

test('R-HUB-5: a sender is who its connection is, and a claim is shown', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  const b = await join1(hub, 'b');
  a.send({ type: 'route', from: 'owner', to: 'b', payload: 1, seq: 77, lsn: 99, meta: { traceparent: 'x' } });
  const frame = await b.next('route');
  expect(frame).toMatchObject({ from: 'a', meta: { traceparent: 'x', claimed_from: 'owner' } });
  expect(frame.lsn).toBe(1);
});

test('R-HUB-5: what a token does not allow is refused', async () => {
  const hub = await testHub({ auth: 'required' });
  const as = async (name: string, ...scopes: ('work' | 'assign' | 'watch' | 'admin')[]) => {
    const headers = { authorization: `Bearer ${hub.grant({ agent: name, scopes })}` };
    return (await helloPeer(hub.url, name, { roles: ['coder'] }, { headers })).peer;
  };
  const owner = await as('owner', 'assign');
  const worker = await as('coder-1', 'work');
  const viewer = await as('viewer', 'watch');
  const admin = await as('admin', 'admin');
  for (const frame of [
    { type: 'task.assign', to: 'role:coder', task_id: 't2', payload: { goal: 'x' } },
    { type: 'who' },
    { type: 'tasks' },
    { type: 'watch', payload: {} },
    { type: 'log', payload: {} },
  ]) {
    const id = worker.send(frame);
    expect((await worker.next('error', ({ ref }) => ref === id)).payload.code).toBe('forbidden');
  }
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'x' } });
  await worker.next('task.assign');
  worker.send({ type: 'log', payload: { task_id: 't1' } });
  expect((await worker.next('log')).payload.frames.length).toBeGreaterThan(0);
  worker.send({ type: 'task.event', task_id: 'a-run', payload: { event: { type: 'effect.done' } } });
  expect((await worker.next('error')).payload.code).toBe('no_such_task');
  viewer.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'x' } });
  expect((await viewer.next('error')).payload.code).toBe('forbidden');
  viewer.send({ type: 'who' });
  expect((await viewer.next('who')).payload.agents).toHaveLength(4);
  admin.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'x' } });
  expect((await owner.next('task.status', ({ payload }) => payload.sub_state === 'cancelled')).payload.reason).toBe(
    'x',
  );
});

test('R-HUB-13: after a restart of the hub a mailbox, a session and running work are still there', async () => {
  const database = join(await testFolder(), 'log.db');
  const start = () => startHub({ port: 0, database, log: silentLog(), clocks: { grace: 60_000 } });
  const before = await start();
  const owner = await helloPeer(before.url, 'owner');
  const worker = await helloPeer(before.url, 'coder-1', { roles: ['coder'] });
  owner.peer.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'x' } });
  await worker.peer.next('task.assign');
  worker.peer.send({ type: 'task.accept', task_id: 't1', attempt: 1 });
  await owner.peer.next('task.status', ({ payload }) => payload.sub_state === 'working');
  await owner.peer.ping();
  await owner.peer.close();
  worker.peer.send({ type: 'route', to: 'owner', payload: 'while you were away' });
  await worker.peer.ping();
  await before.close();
  expect(worker.peer.closed?.code).toBe(4000);

  const hub = await testHub({ database, clocks: { grace: 60_000 } });
  expect(hub.epoch).toBe(before.epoch);
  const back = await helloPeer(hub.url, 'coder-1', { roles: ['coder'], ...pointOf(worker.welcome) });
  expect(back.welcome.payload.resume.state).toBe('recovered');
  back.peer.send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('after all') });
  const ownerBack = await helloPeer(hub.url, 'owner');
  expect((await ownerBack.peer.next('route')).payload).toBe('while you were away');
  expect((await ownerBack.peer.next('task.result')).payload.summary).toBe('after all');
});

test('R-HUB-13: a repeat is recognised after a restart too', async () => {
  const database = join(await testFolder(), 'log.db');
  const frame = { type: 'route', to: 'b', payload: 'once', id: 'fixed' };
  const before = await startHub({ port: 0, database, log: silentLog() });
  const a = await helloPeer(before.url, 'a');
  const b = await helloPeer(before.url, 'b');
  a.peer.send(frame);
  await b.peer.next('route');
  await before.close();
  const hub = await testHub({ database });
  const again = await join1(hub, 'a');
  again.send(frame);
  expect((await again.next('accepted')).payload.duplicates).toEqual(['fixed']);
});

test('R-HUB-60: a client whose acknowledgements were lost gets nothing twice, and its mailbox has room again', async () => {
  const hub = await testHub({ limits: { mailboxMessages: 3 } });
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  first.peer.acks = false;
  for (const payload of [1, 2, 3]) sender.send({ type: 'route', to: 'a', payload });
  const third = await first.peer.next('route', ({ payload }) => payload === 3);
  first.peer.socket.terminate();
  const again = await helloPeer(hub.url, 'a', pointOf(first.welcome, third.seq));
  expect(again.welcome.payload).toMatchObject({ seq: third.seq, resume: { state: 'recovered' } });
  for (const payload of [4, 5, 6]) sender.send({ type: 'route', to: 'a', payload });
  expect(await again.peer.next('route')).toMatchObject({ payload: 4, prev: third.seq });
  await again.peer.next('route', ({ payload }) => payload === 6);
  expect(sender.frames.some(({ type }) => type === 'error')).toBe(false);
});

test.for([false, true])(
  'R-HUB-60: an acknowledgement that comes before its message is sent again spares it; after a restart of the hub: %s',
  async (restart) => {
    const database = join(await testFolder(), 'log.db');
    const before = await startHub({ port: 0, database, log: silentLog() });
    const sender = await join1(before, 'sender');
    const first = await helloPeer(before.url, 'a');
    first.peer.acks = false;
    for (const payload of [1, 2, 3]) sender.send({ type: 'route', to: 'a', payload });
    const second = await first.peer.next('route', ({ payload }) => payload === 2);
    await first.peer.next('route', ({ payload }) => payload === 3);
    let url = before.url;
    if (restart) {
      await before.close();
      url = (await testHub({ database })).url;
    } else first.peer.socket.terminate();
    const peer = await connectPeer(url, 'a', { query: '&v=1' });
    peer.send({ type: 'hello', payload: { v: 1, ...pointOf(first.welcome) } });
    peer.send({ type: 'ack', payload: { seq: second.seq } });
    expect((await peer.next('welcome')).payload.resume.state).toBe('recovered');
    expect(await peer.next('route')).toMatchObject({ payload: 3 });
    await peer.ping();
    expect(peer.frames.filter(({ type }) => type === 'error' || type === 'route')).toEqual([]);
    if (!restart) await before.close();
  },
);

test('R-HUB-60: of two connections that resume a session at the same time one has it, and the other is told', async () => {
  const hub = await testHub();
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  first.peer.socket.terminate();
  const pair = await Promise.all([1, 2].map(() => connectPeer(hub.url, 'a', { query: '&v=1' })));
  for (const peer of pair) peer.send({ type: 'hello', payload: { v: 1, ...pointOf(first.welcome) } });
  const welcomes = await Promise.all(pair.map((peer) => peer.next('welcome')));
  expect(welcomes.map(({ payload }) => payload.resume.state)).toEqual(['recovered', 'recovered']);
  const loser = await Promise.race(pair.map(async (peer) => ({ peer, ...(await peer.end()) })));
  expect(loser.code).toBe(4003);
  const winner = pair.find((peer) => peer !== loser.peer) as Peer;
  sender.send({ type: 'route', to: 'a', payload: 'you' });
  expect((await winner.next('route')).payload).toBe('you');
});

test('R-HUB-60: strangers that say hello under one name at the same time do not replace each other', async () => {
  const hub = await testHub();
  const pair = await Promise.all([1, 2].map(() => connectPeer(hub.url, 'a', { query: '&v=1' })));
  const nowhere = { session: 'x', resume_token: 'x', epoch: hub.epoch, seq: 0 };
  for (const peer of pair) peer.send({ type: 'hello', payload: { v: 1, resume: nowhere } });
  const heard = await Promise.all(pair.map((peer) => peer.wait(({ type }) => type === 'welcome' || type === 'error')));
  expect(heard.map(({ type, payload }) => payload.code ?? type).sort()).toEqual(['name_taken', 'welcome']);
});

test('R-HUB-60: a session that was replaced does not take its name back while its successor is there', async () => {
  const hub = await testHub({ auth: 'required' });
  const headers = { authorization: `Bearer ${hub.grant({ agent: 'a', scopes: ['work'] })}` };
  const old = await helloPeer(hub.url, 'a', {}, { headers });
  const next = await helloPeer(hub.url, 'a', {}, { headers });
  expect(await old.peer.end()).toMatchObject({ code: 4003 });
  const back = await connectPeer(hub.url, 'a', { query: '&v=1', headers });
  back.send({ type: 'hello', payload: { v: 1, ...pointOf(old.welcome) } });
  expect((await back.next('error')).payload.code).toBe('name_taken');
  expect(await back.end()).toMatchObject({ code: 4502 });
  await next.peer.ping();
  await next.peer.close();
  const later = await helloPeer(hub.url, 'a', pointOf(old.welcome), { headers });
  expect(later.welcome.payload.resume).toMatchObject({ state: 'gap', reason: 'the session is not known' });
});

test('R-HUB-60: after a gap the client is known by its token, also when it did not hear of its new session', async () => {
  const hub = await testHub({ auth: 'required' });
  const headers = { authorization: `Bearer ${hub.grant({ agent: 'a', scopes: ['work'] })}` };
  const first = await helloPeer(hub.url, 'a', {}, { headers });
  const lost = await helloPeer(hub.url, 'a', pointOf(first.welcome, 999), { headers });
  expect(lost.welcome.payload.resume).toMatchObject({ state: 'gap', reason: expect.stringContaining('older copy') });
  const again = await helloPeer(hub.url, 'a', pointOf(first.welcome), { headers });
  expect(again.welcome.payload.resume.state).toBe('recovered');
  expect(await lost.peer.end()).toMatchObject({ code: 4003 });
});

test('R-HUB-60: another database under the same address is told as a gap, and delivery goes on', async () => {
  const folder = await testFolder();
  const before = await startHub({ port: 0, database: join(folder, 'one.db'), log: silentLog() });
  const sender = await join1(before, 'sender');
  const first = await helloPeer(before.url, 'a');
  sender.send({ type: 'route', to: 'a', payload: 'old' });
  const old = await first.peer.next('route');
  await before.close();
  const hub = await testHub({ port: before.port, database: join(folder, 'two.db') });
  const { peer, welcome } = await helloPeer(hub.url, 'a', pointOf(first.welcome, old.seq));
  expect(welcome.payload).toMatchObject({ epoch: hub.epoch, resume: { state: 'gap', from: old.seq } });
  expect(welcome.payload.epoch).not.toBe(before.epoch);
  const other = await join1(hub, 'other');
  other.send({ type: 'route', to: 'a', payload: 'new' });
  expect(await peer.next('route')).toMatchObject({ payload: 'new', prev: welcome.payload.seq });
});

test('R-HUB-60: a position that the log does not reach back to any more is a gap, and what waits still comes', async () => {
  const { openStorage, storage } = watchedStorage();
  const hub = await testHub({ openStorage });
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  for (const payload of ['had', 'acked']) sender.send({ type: 'route', to: 'a', payload });
  const had = await first.peer.next('route');
  await first.peer.next('route');
  await first.peer.ping();
  await first.peer.close();
  await sender.ping();
  expect(await storage().trim({ before: Date.now() + 1000 })).toBeGreaterThan(0);
  sender.send({ type: 'route', to: 'a', payload: 'waits' });
  await sender.ping();
  expect(await storage().trim({ before: Date.now() + 1000 })).toBe(0);
  const { peer, welcome } = await helloPeer(hub.url, 'a', pointOf(first.welcome, had.seq));
  expect(welcome.payload.resume).toMatchObject({
    state: 'gap',
    reason: expect.stringContaining('does not reach back'),
  });
  expect((await peer.next('route')).payload).toBe('waits');
});

test('R-HUB-61: a mailbox takes exactly as many messages as it may, also within one turn', async () => {
  const hub = await testHub({ limits: { mailboxMessages: 5, rate: 0 } });
  const sender = await join1(hub, 'sender');
  await (await join1(hub, 'away')).close();
  for (let count = 0; count < 50; count += 1) sender.send({ type: 'route', to: 'away', payload: count });
  await sender.ping();
  const refusals = sender.frames.filter(({ payload }) => payload?.code === 'mailbox_full');
  expect(refusals).toHaveLength(45);
  const back = await join1(hub, 'away');
  await back.wait(({ payload }) => payload === 4);
  await back.ping();
  expect(back.frames.filter(({ type }) => type === 'route').map(({ payload }) => payload)).toEqual([0, 1, 2, 3, 4]);
});
