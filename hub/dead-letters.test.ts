import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { type HaltingStorage, haltingStorage } from '../test/chaos/halting-storage.ts';
import { assign, crew, takeUp } from '../test/helpers/crew.ts';
import { join0, join1, result, testFolder, testHub } from '../test/helpers/hub.ts';
import { type ManualClock, manualClock } from '../test/helpers/manual-clock.ts';
import { connectPeer, helloPeer, type Peer, type PeerFrame } from '../test/helpers/peer.ts';
import { deadLettersOf, watchedStorage } from '../test/helpers/watched-storage.ts';
import { type RunningHub, startHub } from './index.ts';
import type { OpenStorage } from './storage.ts';

const hour = 3_600_000;
const minute = 60_000;

function pointOf(welcome: PeerFrame, seq: number = welcome.payload.seq) {
  const { session, resume_token, epoch } = welcome.payload;
  return { resume: { session, resume_token, epoch, seq } };
}

async function hubAt(clock: ManualClock, options: Parameters<typeof testHub>[0] = {}) {
  const watched = watchedStorage();
  const { openStorage } = watched;
  const hub = await testHub({ clock, openStorage, ...options, clocks: { ping: 1e15, ...options.clocks } });
  return { hub, ...watched };
}

/** Sends messages and waits until they are accepted. */
async function say(sender: Peer, to: string, ...texts: string[]): Promise<string[]> {
  const ids = texts.map((payload) => sender.send({ type: 'route', to, payload }));
  await sender.ping();
  return ids;
}

/** Moves the time until `done` holds. */
async function passUntil(clock: ManualClock, done: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await done()); tries += 1) {
    if (tries > 200) throw new Error('it did not happen');
    clock.advance(hour);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** A token for this name alone. */
function tokenOf(hub: RunningHub, agent: string) {
  return { headers: { authorization: `Bearer ${hub.grant({ agent, scopes: ['work'] })}` } };
}

test('R-HUB-55: what waited 24 h for somebody who is away is a dead letter, the sender is told, and the rest still comes', async () => {
  const clock = manualClock();
  const { hub, dead } = await hubAt(clock);
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  await say(sender, 'a', 'had');
  const had = await first.peer.next('route');
  await first.peer.ping();
  await first.peer.close();
  const ids = await say(sender, 'a', 'old 1', 'old 2');
  clock.advance(23 * hour);
  await say(sender, 'a', 'young');
  await passUntil(clock, async () => (await dead()).length > 0);
  expect(await dead()).toEqual(['a expired old 1', 'a expired old 2']);
  expect(await sender.next('error')).toMatchObject({
    ref: ids[0],
    payload: { code: 'offline', details: { to: 'a', ids } },
  });
  const again = await helloPeer(hub.url, 'a', pointOf(first.welcome, had.seq));
  const { session, resume } = again.welcome.payload;
  expect(session).toBe(first.welcome.payload.session);
  expect(resume).toMatchObject({ state: 'gap', from: had.seq, reason: expect.stringContaining('dead letters') });
  const young = await again.peer.next('route');
  expect(young).toMatchObject({ payload: 'young', prev: again.welcome.payload.seq });
  await again.peer.ping();
  await again.peer.close();
  const { welcome } = await helloPeer(hub.url, 'a', pointOf(again.welcome, young.seq));
  expect(welcome.payload.resume).toEqual({ state: 'recovered' });
});

test('R-HUB-55: why messages are missing is told the same after their dead letters were dropped', async () => {
  const clock = manualClock();
  const { hub, dead, storage } = await hubAt(clock);
  const sender = await join1(hub, 'sender');
  const first = await helloPeer(hub.url, 'a');
  await first.peer.close();
  await say(sender, 'a', 'old');
  await passUntil(clock, async () => (await dead()).length > 0);
  const dropped = await fetch(`${hub.url.replace('ws', 'http')}/v1/dead?all=1`, { method: 'DELETE' });
  expect([dropped.ok, await storage().deadLetters(0, 10)]).toEqual([true, []]);
  const again = await helloPeer(hub.url, 'a', pointOf(first.welcome));
  expect(again.welcome.payload.resume).toMatchObject({
    state: 'gap',
    reason: 'messages after this position waited too long and are dead letters',
  });
});

test('R-HUB-55: what waits for somebody who is connected does not run out, and never with a time of 0', async () => {
  const clock = manualClock();
  const { hub, dead } = await hubAt(clock, { limits: { maxInflight: 1 } });
  const sender = await join1(hub, 'sender');
  const slow = await join1(hub, 'slow');
  slow.acks = false;
  await say(sender, 'slow', 'one', 'two');
  const one = await slow.next('route');
  clock.advance(48 * hour);
  clock.advance(minute);
  await sender.ping();
  slow.send({ type: 'ack', payload: { seq: one.seq } });
  expect((await slow.next('route')).payload).toBe('two');
  expect(await dead()).toEqual([]);
  const patient = await hubAt(clock, { limits: { mailboxTtlMs: 0 } });
  const other = await join1(patient.hub, 'other');
  await (await join1(patient.hub, 'away')).close();
  await say(other, 'away', 'waits');
  clock.advance(1000 * hour);
  clock.advance(minute);
  await other.ping();
  expect(await patient.dead()).toEqual([]);
});

test('R-HUB-55: a wall clock that is set on by days makes no dead letters', async () => {
  const clock = manualClock();
  const { hub, dead } = await hubAt(clock);
  const sender = await join1(hub, 'sender');
  await (await join1(hub, 'away')).close();
  await say(sender, 'away', 'waits');
  clock.stepWall(72 * hour);
  for (let passed = 0; passed < 3; passed += 1) {
    clock.advance(minute);
    await sender.ping();
  }
  expect(await dead()).toEqual([]);
});

test('R-HUB-55: what is dead stays dead after a restart and is not handed over again', async () => {
  const clock = manualClock();
  const database = join(await testFolder(), 'log.db');
  const watched = watchedStorage();
  const { openStorage, dead } = watched;
  const before = await startHub({ port: 0, database, log: silentLog(), clock, openStorage, clocks: { ping: 1e15 } });
  const sender = await join1(before, 'sender');
  await (await join1(before, 'away')).close();
  await say(sender, 'away', 'old');
  await passUntil(clock, async () => (await dead()).length > 0);
  await say(sender, 'away', 'young');
  await before.close();
  const hub = await testHub({ database, clock, openStorage });
  const back = await join1(hub, 'away');
  expect((await back.next('route')).payload).toBe('young');
  expect(await dead()).toEqual(['away expired old']);
});

test('R-HUB-55: what could not be read from the log when its turn came is handed over by the next sweep', async () => {
  const clock = manualClock();
  let faults = 1;
  const { openStorage } = watchedStorage();
  const { hub } = await hubAt(clock, {
    openStorage: async (path) => {
      const opened = await openStorage(path);
      const mailbox: typeof opened.storage.mailbox = async (...range) => {
        faults -= 1;
        if (faults >= 0) throw new Error('cannot read');
        return opened.storage.mailbox(...range);
      };
      return { ...opened, storage: { ...opened.storage, mailbox } };
    },
  });
  const sender = await join1(hub, 'sender');
  await (await join1(hub, 'a')).close();
  await say(sender, 'a', 'waiting');
  const back = await join1(hub, 'a');
  await back.ping();
  expect(back.frames).toEqual([]);
  clock.advance(minute);
  expect((await back.next('route')).payload).toBe('waiting');
});

test('R-HUB-56: what a level-0 peer had not read when it went is a dead letter', async () => {
  const watched = watchedStorage();
  const hub = await testHub({ ...watched, limits: { rate: 0, softBuffer: 64 * 1024 } });
  const sender = await join1(hub, 'sender');
  const slow = await join0(hub, 'slow');
  slow.socket.pause();
  const text = 'x'.repeat(64 * 1024);
  for (let index = 0; index < 200; index += 1) sender.send({ type: 'route', to: 'slow', payload: { index, text } });
  await sender.wait(({ type, payload }) => type === 'accepted' && payload.upto === 201);
  slow.socket.terminate();
  await expect.poll(watched.dead).not.toEqual([]);
  const letters = await deadLettersOf(watched.storage());
  const dead = letters.map(({ message }) => JSON.parse(message.body.toString()).payload.index as number);
  expect(dead).toEqual(Array.from({ length: dead.length }, (_, index) => 200 - dead.length + index));
  expect(letters.every(({ box, reason }) => box === 'slow' && reason === 'offline')).toBe(true);
});

test('R-HUB-56: what was committed for a level-0 peer when the hub was killed, and not told, is a dead letter', async () => {
  const database = join(await testFolder(), 'log.db');
  const held = watchedStorage();
  let goOn = (): void => undefined;
  // A commit that is never heard of is what a killed hub leaves behind.
  let halting: HaltingStorage | undefined;
  const openStorage: OpenStorage = async (path) => {
    const opened = await held.openStorage(path);
    halting = haltingStorage(opened.storage, () => new Promise((resolve) => (goOn = resolve)));
    return { ...opened, storage: halting.storage };
  };
  const first = await testHub({ database, openStorage });
  const plain = await join0(first, 'plain');
  const sender = await join1(first, 'sender');
  await say(sender, 'plain', 'told');
  await plain.next('route');
  // Its position is written down by then.
  await expect.poll(() => held.commits.flat().at(-1)).toMatchObject({ kind: 'cursor', name: 'hub' });
  halting?.arm({ type: 'route', skip: 0 });
  const id = sender.send({ type: 'route', to: 'plain', payload: 'not told' });
  await expect.poll(async () => (await held.storage().recentIds('sender', 1))[0]?.id).toBe(id);

  const watched = watchedStorage();
  const next = await testHub({ database, ...watched });
  expect(await watched.dead()).toEqual(['plain offline not told']);
  const again = await join1(next, 'sender');
  again.send({ type: 'route', to: 'plain', payload: 'not told', id });
  expect((await again.next('accepted', ({ payload }) => payload.duplicates !== undefined)).payload.duplicates).toEqual([
    id,
  ]);
  await next.close();
  goOn();
});

test('R-HUB-57: what was told to a level-0 connection under the name of an agent is not told again after a kill', async () => {
  const database = join(await testFolder(), 'log.db');
  const held = watchedStorage();
  const first = await testHub({ database, ...held, auth: 'required' });
  await (await helloPeer(first.url, 'agent', {}, tokenOf(first, 'agent'))).peer.close();
  const plain = await connectPeer(first.url, 'agent', tokenOf(first, 'agent'));
  await plain.ping();
  const { peer: sender } = await helloPeer(first.url, 'sender', {}, tokenOf(first, 'sender'));
  await say(sender, 'agent', 'told');
  await plain.next('route');
  await expect.poll(() => held.commits.flat().at(-1)).toMatchObject({ kind: 'cursor', name: 'hub' });
  const next = await testHub({ database });
  const back = await join0(next, 'agent');
  await back.ping();
  expect(back.frames.filter(({ type }) => type === 'route')).toEqual([]);
  await next.close();
});

test('R-HUB-56: a result for a level-0 owner that is gone is a dead letter, what it would not be told is none', async () => {
  const watched = watchedStorage();
  const hub = await testHub({ ...watched });
  const owner = await join0(hub, 'owner');
  const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
  assign(owner, 't1');
  await takeUp(worker);
  await owner.close();
  worker.send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('nobody hears') });
  await worker.ping();
  await worker.ping();
  expect(await watched.dead()).toEqual(['owner offline task.result']);
});

test('R-HUB-56: a word to a level-0 worker that is gone is a dead letter', async () => {
  const watched = watchedStorage();
  const hub = await testHub({ ...watched });
  const { owner } = await crew(hub);
  const worker = await join0(hub, 'plain', '&role=coder');
  assign(owner, 't1');
  await worker.next('route');
  await worker.close();
  await owner.ping();
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'x' } });
  await owner.ping();
  await owner.ping();
  expect(await watched.dead()).toEqual([]);
  owner.send({ type: 'route', to: 'plain', payload: 'x' });
  expect((await owner.next('error')).payload.code).toBe('offline');
});

test('R-HUB-57: what waits for an agent is told to a level-0 connection with a token for its name, once', async () => {
  const hub = await testHub({ auth: 'required' });
  const { peer: sender } = await helloPeer(hub.url, 'sender', {}, tokenOf(hub, 'sender'));
  await (await helloPeer(hub.url, 'a', {}, tokenOf(hub, 'a'))).peer.close();
  await say(sender, 'a', 'waiting');
  const plain = await connectPeer(hub.url, 'a', tokenOf(hub, 'a'));
  expect(await plain.next('route')).toMatchObject({ from: 'sender', payload: 'waiting' });
  await say(sender, 'a', 'live');
  expect((await plain.next('route')).payload).toBe('live');
  await plain.close();
  await say(sender, 'a', 'after');
  const { peer: back } = await helloPeer(hub.url, 'a', {}, tokenOf(hub, 'a'));
  expect((await back.next('route')).payload).toBe('after');
});

test('R-HUB-57: what a level-0 connection has not read is its own still when it says hello, or a newer one comes', async () => {
  const hub = await testHub({ limits: { rate: 0, softBuffer: 64 * 1024 } });
  const sender = await join1(hub, 'sender');
  const first = await join0(hub, 'a');
  first.socket.pause();
  const text = 'x'.repeat(64 * 1024);
  for (let index = 0; index < 200; index += 1) sender.send({ type: 'route', to: 'a', payload: { index, text } });
  await sender.wait(({ type, payload }) => type === 'accepted' && payload.upto === 201);
  const second = await join0(hub, 'a');
  await second.wait(({ payload }) => payload?.index === 199);
  second.send({ type: 'hello', payload: { v: 1 } });
  expect((await second.next('welcome')).payload.resume.state).toBe('new');
  await say(sender, 'a', 'numbered');
  expect((await second.next('route', ({ payload }) => payload === 'numbered')).seq).toBeGreaterThan(200);
});

test('R-HUB-58: a name that was away for 7 days with nothing waiting is forgotten, and told so when it comes back', async () => {
  const clock = manualClock();
  const { hub, storage } = await hubAt(clock, { limits: { mailboxTtlMs: 0 } });
  const first = await helloPeer(hub.url, 'once');
  await first.peer.close();
  const sender = await join1(hub, 'sender');
  await (await join1(hub, 'waited-for')).close();
  await say(sender, 'waited-for', 'still here');
  const owner = await join1(hub, 'owner');
  assign(owner, 't1');
  await owner.ping();
  await owner.close();
  await sender.ping();
  const sessions = async () => (await storage().sessions()).map(({ name }) => name);
  const names = async () => (await sessions()).filter((name) => name !== 'hub').sort();
  clock.advance(6 * 24 * hour);
  clock.advance(minute);
  await sender.ping();
  expect(await names()).toEqual(['once', 'owner', 'sender', 'waited-for']);
  await passUntil(clock, async () => (await names()).length < 4);
  clock.advance(minute);
  await sender.ping();
  expect(await names()).not.toContain('once');
  expect(await names()).toContain('waited-for');
  sender.send({ type: 'route', to: 'once', payload: 'x' });
  expect((await sender.next('error')).payload.code).toBe('no_such_agent');
  const { welcome } = await helloPeer(hub.url, 'once', pointOf(first.welcome));
  expect(welcome.payload.resume).toMatchObject({ state: 'gap', reason: 'the session is not known' });
});
