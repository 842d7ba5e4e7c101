import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { assign, crew, statusOf, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join0, join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { connectPeer, helloPeer, type Peer, type PeerFrame } from '../test/helpers/peer.ts';
import { type RunningHub, startHub } from './index.ts';

/** A peer that says hello and does not wait for what comes of it. */
async function hello(hub: RunningHub, name: string, payload: object = {}): Promise<Peer> {
  const peer = await connectPeer(hub.url, name, { query: '&v=1' });
  peer.send({ type: 'hello', payload: { v: 1, ...payload } });
  return peer;
}

/** Has a peer read nothing, so that it answers no ping, until the test ends. */
function mute({ socket }: Peer): void {
  socket.pause();
  onTestFinished(() => socket.resume());
}

/** A peer that asks for a name at either level; what it is told comes later. */
async function claim(hub: RunningHub, name: string, level: 0 | 1): Promise<() => Promise<string>> {
  const peer = level === 1 ? await hello(hub, name) : await connectPeer(hub.url, name);
  if (level === 0) peer.send({ type: 'ping' });
  return async () => {
    const { type, payload } = await peer.wait(({ type }) => ['welcome', 'pong', 'error'].includes(type));
    return payload?.code ?? type;
  };
}

/** A peer without v=1 that speaks at once; what it is told: pong, or the code of an error. */
async function plain(
  hub: RunningHub,
  name: string,
  headers = {},
): Promise<{ peer: Peer; told: string; message?: string }> {
  const peer = await connectPeer(hub.url, name, { headers });
  peer.send({ type: 'ping' });
  const { type, payload } = await peer.wait((frame) => frame.type === 'pong' || frame.type === 'error');
  return { peer, told: payload?.code ?? type, ...(payload && { message: payload.message }) };
}

function pointOf({ payload: { session, resume_token, epoch, seq } }: PeerFrame) {
  return { resume: { session, resume_token, epoch, seq } };
}

test('R-HUB-103: a hello for a name whose holder gives no sign of life gets it after 2 s, and the holder’s work goes on to another', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  mute(workers[0]);
  const next = await hello(hub, 'coder-1', { roles: ['coder'] });
  const watcher = await join1(hub, 'look');
  clock.advance(1999);
  await watcher.ping();
  expect(next.frames).toEqual([]);
  clock.advance(1);
  expect((await next.next('welcome')).payload.resume).toEqual({ state: 'new' });
  clock.advance(1000);
  expect(await next.next('task.assign')).toMatchObject({ task_id: 't1', attempt: 2 });
  workers[0].socket.resume();
  expect(await workers[0].end()).toMatchObject({ code: 4003 });
  watcher.send({ type: 'route', to: 'coder-1', payload: 'still there?' });
  expect((await next.next('route')).payload).toBe('still there?');
});

test('R-HUB-103: a holder that lives keeps its name, at once and whatever the stranger shows', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const first = await helloPeer(hub.url, 'a');
  await first.peer.close();
  const holder = await join1(hub, 'a');
  for (const payload of [{}, pointOf(first.welcome)]) {
    const stranger = await hello(hub, 'a', payload);
    expect((await stranger.next('error')).payload).toMatchObject({ code: 'name_taken' });
    expect(await stranger.end()).toMatchObject({ code: 4502 });
  }
  await holder.ping();
});

test('R-HUB-103: any frame is a sign of life, though the pong is missing', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const holder = await join1(hub, 'a');
  const other = await join0(hub, 'look');
  mute(holder);
  const stranger = await hello(hub, 'a');
  await other.ping();
  holder.send({ type: 'route', to: 'look', payload: 'busy, not gone' });
  expect((await stranger.next('error')).payload.code).toBe('name_taken');
});

test('R-HUB-103: who has the token of the session does not wait behind strangers', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const { peer: old, welcome } = await helloPeer(hub.url, 'a');
  mute(old);
  const strangers = [
    await hello(hub, 'a'),
    await hello(hub, 'a', { resume: { ...pointOf(welcome).resume, resume_token: 'x' } }),
  ];
  const { peer: own, welcome: again } = await helloPeer(hub.url, 'a', pointOf(welcome));
  expect(again.payload).toMatchObject({ session: welcome.payload.session, resume: { state: 'recovered' } });
  clock.advance(2000);
  for (const stranger of strangers) expect((await stranger.next('error')).payload.code).toBe('name_taken');
  await own.ping();
});

test('R-HUB-103: of two that wait for the same name one gets it', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const holder = await join1(hub, 'a');
  mute(holder);
  const pair = [await hello(hub, 'a'), await hello(hub, 'a')];
  await (await join0(hub, 'look')).ping();
  clock.advance(2000);
  const heard = await Promise.all(pair.map((peer) => peer.wait(({ type }) => type === 'welcome' || type === 'error')));
  expect(heard.map(({ type, payload }) => payload.code ?? type).sort()).toEqual(['name_taken', 'welcome']);
});

test('R-HUB-103: a level-0 holder is asked for a sign of life, too', async () => {
  const hub = await testHub({ clocks: { takeover: 50 } });
  const alive = await join0(hub, 'alive');
  expect((await (await hello(hub, 'alive')).next('error')).payload.code).toBe('name_taken');
  const gone = await join0(hub, 'gone');
  mute(gone);
  await (await hello(hub, 'gone')).next('welcome');
  await alive.ping();
});

test('R-HUB-104: level 0 gets neither the mail nor the work of a session that is away, and may have its name when there is none', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].socket.terminate();
  await expect.poll(async () => (await look(owner)).includes('coder-1')).toBe(false);
  const thief = await plain(hub, 'coder-1');
  expect(thief.told).toBe('name_taken');
  expect(await thief.peer.end()).toMatchObject({ code: 4502 });
  owner.send({ type: 'route', to: 'coder-1', payload: 'secret' });
  await owner.ping();
  clock.advance(31_000);
  await statusOf(owner, 'queued');
  expect((await plain(hub, 'coder-1')).told).toBe('name_taken');
  const back = await join1(hub, 'coder-1');
  expect((await back.next('route')).payload).toBe('secret');
  back.send({ type: 'bye', payload: {} });
  await back.end();
  const free = await plain(hub, 'coder-1');
  expect(free.told).toBe('pong');
  owner.send({ type: 'route', to: 'coder-1', payload: 'hello you' });
  expect((await free.peer.next('route')).payload).toBe('hello you');
});

test('R-HUB-104: within its grace a session keeps its name though nothing waits, and so does who gave a task', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const owner = await join1(hub, 'owner');
  const idle = await join1(hub, 'idle');
  assign(owner, 't1');
  await owner.ping();
  for (const peer of [owner, idle]) await peer.close();
  expect((await plain(hub, 'idle')).told).toBe('name_taken');
  clock.advance(30_000);
  expect((await plain(hub, 'idle')).told).toBe('pong');
  expect((await plain(hub, 'owner')).told).toBe('name_taken');
});

test('R-HUB-104: after a restart of the hub a session has the same grace, though nothing waits', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog() });
  const boss = await helloPeer(before.url, 'boss');
  await before.close();
  const clock = manualClock();
  const hub = await testHub({ database, clock, clocks: { ping: 1e9 } });
  const stranger = await plain(hub, 'boss');
  expect(stranger.told).toBe('name_taken');
  expect(stranger.message).toContain('kept for the level-1 agent');
  const sender = await join1(hub, 'sender');
  sender.send({ type: 'route', to: 'boss', payload: 'secret' });
  await sender.ping();
  const back = await helloPeer(hub.url, 'boss', pointOf(boss.welcome));
  expect(back.welcome.payload.resume.state).toBe('recovered');
  expect((await back.peer.next('route')).payload).toBe('secret');
  expect((await plain(hub, 'sender-2')).told).toBe('pong');
});

test('R-HUB-104: after a restart of the hub a name that nobody comes back to is free again after the grace', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog() });
  await join1(before, 'gone', { roles: ['x'] });
  await before.close();
  const clock = manualClock();
  const hub = await testHub({ database, clock, clocks: { ping: 1e9 } });
  clock.advance(29_999);
  expect((await plain(hub, 'gone')).told).toBe('name_taken');
  clock.advance(1);
  expect((await plain(hub, 'gone')).told).toBe('pong');
});

test('R-HUB-104: level 0 that gave a task has its name at once after a restart, also when that was a session’s long ago', async () => {
  const database = join(await testFolder(), 'log.db');
  let hub = await startHub({ port: 0, database, log: silentLog() });
  const once = await join1(hub, 'me', { roles: ['x'] });
  once.send({ type: 'bye', payload: {} });
  await once.end();
  const owner = (await plain(hub, 'me')).peer;
  owner.send({
    type: 'task.assign',
    to: 'role:nobody',
    task_id: 't1',
    payload: { goal: 'g', artifacts: [], constraints: [] },
  });
  await owner.ping();
  for (const end of ['connected', 'away']) {
    if (end === 'away') await (await plain(hub, 'me')).peer.close();
    await hub.close();
    hub = await startHub({ port: 0, database, log: silentLog() });
    expect((await plain(hub, 'me')).told).toBe('pong');
  }
  await hub.close();
});

test('R-HUB-104: who only listens under a name that is kept is told so soon, and may say hello until then', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const { peer: old, welcome } = await helloPeer(hub.url, 'a');
  await old.close();
  const listener = await join0(hub, 'a');
  const late = await join0(hub, 'a');
  late.send({ type: 'hello', payload: { v: 1, ...pointOf(welcome) } });
  expect((await late.next('welcome')).payload.resume.state).toBe('recovered');
  clock.advance(2000);
  expect((await listener.next('error')).payload.code).toBe('name_taken');
  expect(await listener.end()).toMatchObject({ code: 4502 });
  await late.ping();
});

test('R-HUB-104: with a token for the name alone level 0 may have it', async () => {
  const hub = await testHub({ auth: 'required' });
  const token = (agent?: string) => ({
    authorization: `Bearer ${hub.grant({ scopes: ['work', 'assign'], ...(agent !== undefined && { agent }) })}`,
  });
  const { peer: holder } = await helloPeer(hub.url, 'a', {}, { headers: token('a') });
  expect((await plain(hub, 'a', token())).told).toBe('name_taken');
  const own = await plain(hub, 'a', token('a'));
  expect(own.told).toBe('pong');
  expect(await holder.end()).toMatchObject({ code: 4003 });
  own.peer.send({ type: 'route', to: 'a', payload: 'mine' });
  expect((await own.peer.next('route')).payload).toBe('mine');
});

test('R-HUB-103: a level-1 holder that is gone loses its name and its work to level 0, at once', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const { owner, workers } = await crew(hub, 'a');
  assign(owner, 't1');
  await takeUp(workers[0]);
  mute(workers[0]);
  const told = await claim(hub, 'a', 0);
  await owner.ping();
  clock.advance(2000);
  expect(await told()).toBe('pong');
  expect((await statusOf(owner, 'queued')).payload.reason).toBe('a did not come back');
});

test('R-HUB-104: a holder that is gone keeps its name from level 0 while mail waits for it, and its work for the grace', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const { owner, workers } = await crew(hub, 'a');
  const [holder] = workers;
  assign(owner, 't1');
  await takeUp(holder);
  mute(holder);
  owner.send({ type: 'route', to: 'a', payload: 'secret' });
  const told = await claim(hub, 'a', 0);
  await owner.ping();
  clock.advance(2000);
  expect(await told()).toBe('name_taken');
  expect(await look(owner)).toEqual(['owner']);
  expect((await taskRow(owner, 't1')).sub_state).toBe('working');
});

/** Makes the hub stop reading a holder: by its rate, with frames that still wait, or by what it leaves unread. */
const stopped = {
  'by its rate': async (holder: Peer) => {
    for (let count = 0; count < 500; count += 1) holder.send({ type: 'pong' });
    await holder.next('error', ({ payload }) => payload.code === 'rate_limited');
  },
  'by its buffer': async (holder: Peer, other: Peer) => {
    mute(holder);
    const big = 'x'.repeat(400_000);
    for (let count = 0; count < 40; count += 1) other.send({ type: 'route', to: '*', payload: big });
    await other.ping();
    for (let count = 0; count < 60; count += 1) {
      holder.send({ type: 'log', payload: { after_lsn: 0, limit: 1000 } });
      await other.ping();
    }
  },
};

test.each(
  (['by its rate', 'by its buffer'] as const).flatMap((how) =>
    ([0, 1] as const).flatMap((holds) => ([0, 1] as const).map((comes) => ({ how, holds, comes }))),
  ),
)(
  'R-HUB-103: a holder at level $holds whose reading is stopped $how and that is gone loses its name to level $comes',
  async ({ how, holds, comes }) => {
    const clock = manualClock();
    const limits = how === 'by its rate' ? {} : { rate: 0, hardBuffer: 1024 * 1024 };
    const hub = await testHub({ clock, clocks: { ping: 1e9 }, limits });
    const other = await join1(hub, 'look');
    const holder = await (holds === 0 ? join0(hub, 'a') : join1(hub, 'a'));
    await stopped[how](holder, other);
    mute(holder);
    const told = await claim(hub, 'a', comes);
    await other.ping();
    clock.advance(2000);
    expect(await told()).toBe(comes === 0 ? 'pong' : 'welcome');
    await other.ping();
  },
);

test('R-HUB-103: a holder whose reading is stopped and that lives keeps its name', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e9 } });
  const holder = await join1(hub, 'a');
  await stopped['by its rate'](holder);
  const stranger = await hello(hub, 'a');
  expect((await stranger.next('error')).payload.code).toBe('name_taken');
});

test('R-HUB-103: a holder that has much to read and takes some of it lives', async () => {
  const hub = await testHub({ limits: { rate: 0, hardBuffer: 1024 * 1024 }, clocks: { takeover: 300 } });
  const other = await join1(hub, 'look');
  const holder = await join1(hub, 'a');
  await stopped['by its buffer'](holder, other);
  const told = await claim(hub, 'a', 1);
  await other.ping();
  holder.socket.resume();
  expect(await told()).toBe('name_taken');
});

/** Names of those who are connected. */
async function look(peer: Peer): Promise<string[]> {
  peer.send({ type: 'who' });
  return (await peer.next('who')).payload.agents.map(({ name }: { name: string }) => name);
}
