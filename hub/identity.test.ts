import { expect, test } from 'vitest';
import { assign, crew, takeUp } from '../test/helpers/crew.ts';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import { connectPeer, helloPeer, type Peer } from '../test/helpers/peer.ts';
import type { RunningHub } from './index.ts';

/** A peer with a token of its own, for its name alone. */
async function bound(hub: RunningHub, name: string, level: 0 | 1 = 1): Promise<Peer> {
  const headers = { authorization: `Bearer ${hub.grant({ agent: name, scopes: ['work'] })}` };
  return level === 1 ? (await helloPeer(hub.url, name, {}, { headers })).peer : connectPeer(hub.url, name, { headers });
}

test.each([0, 1] as const)('R-HUB-78: at level %i nobody speaks in the name of another', async (level) => {
  const hub = await testHub();
  const mallory = await (level === 0 ? join0(hub, 'mallory') : join1(hub, 'mallory'));
  const bob = await join1(hub, 'bob');
  mallory.send({ type: 'route', from: 'alice', to: 'bob', payload: 1 });
  mallory.send({ type: 'route', from: 'hub', to: 'bob', payload: 2 });
  mallory.send({ type: 'route', from: '', to: 'bob', payload: 3, meta: { claimed_from: 'alice', mine: true } });
  await bob.wait(({ payload }) => payload === 3);
  const heard = bob.frames.filter(({ type }) => type === 'route');
  expect(heard.map(({ from }) => from)).toEqual(['mallory', 'mallory', 'mallory']);
  expect(heard.map(({ meta }) => meta?.claimed_from)).toEqual(['alice', 'hub', expect.anything()]);
});

test.each([0, 1] as const)(
  'R-HUB-78: at level %i a token for one name opens no other, in whatever case',
  async (level) => {
    const hub = await testHub({ auth: 'required' });
    const token = hub.grant({ agent: 'coder-1', scopes: ['work'] });
    const query = level === 1 ? '&v=1' : '';
    const headers = { authorization: `Bearer ${token}` };
    for (const name of ['coder-2', 'Coder-1', 'CODER-1', 'coder-01', 'coder-1-']) {
      await expect(connectPeer(hub.url, name, { query, headers })).rejects.toThrow('401');
    }
    await expect(connectPeer(hub.url, 'coder-1%00', { query, headers })).rejects.toThrow('400');
  },
);

test('R-HUB-78: a name in another case is another agent, and gets nothing of what is for the first', async () => {
  const hub = await testHub();
  const alice = await join1(hub, 'alice');
  const other = await join1(hub, 'Alice');
  const bob = await join1(hub, 'bob');
  bob.send({ type: 'route', to: 'alice', payload: 'for alice' });
  expect((await alice.next('route')).payload).toBe('for alice');
  await other.ping();
  expect(other.frames.filter(({ type }) => type === 'route')).toEqual([]);
});

test('R-HUB-78: nobody acknowledges, and so removes, what waits for another', async () => {
  const hub = await testHub({ auth: 'required' });
  const [bob, alice, mallory] = [await bound(hub, 'bob'), await bound(hub, 'alice'), await bound(hub, 'mallory')];
  alice.acks = false;
  bob.send({ type: 'route', to: 'alice', payload: 'secret' });
  const { seq = 0, id = '' } = await alice.next('route');
  mallory.send({ type: 'ack', payload: { seq } });
  expect((await mallory.next('error')).payload.code).toBe('bad_state');
  mallory.send({ type: 'ack', payload: { ids: [id] } });
  mallory.send({ type: 'ack', from: 'alice', payload: { ids: [id] } });
  await mallory.ping();
  alice.socket.terminate();
  const back = await bound(hub, 'alice');
  expect(await back.next('route')).toMatchObject({ payload: 'secret', id });
});

test('R-HUB-78: a wrong resume token neither takes a name that is in use nor goes on with its session', async () => {
  const hub = await testHub();
  const { owner, workers } = await crew(hub, 'coder-1');
  const { welcome } = await helloPeer(hub.url, 'alice');
  const { session, epoch, seq } = welcome.payload;
  const resume = { session, epoch, seq, resume_token: 'x'.repeat(43) };
  const thief = await connectPeer(hub.url, 'alice', { query: '&v=1' });
  thief.send({ type: 'hello', payload: { v: 1, resume } });
  expect((await thief.next('error')).payload.code).toBe('name_taken');
  expect(await thief.end()).toMatchObject({ code: 4502 });
  const [coder] = workers;
  assign(owner, 't1');
  await takeUp(coder);
  coder.socket.terminate();
  const guess = await helloPeer(hub.url, 'coder-1', { roles: ['coder'], resume });
  expect(guess.welcome.payload.resume.state).toBe('gap');
  expect(guess.welcome.payload.session).not.toBe(session);
  guess.peer.send({ type: 'task.progress', task_id: 't1', attempt: 1, payload: {} });
  expect((await guess.peer.next('error')).payload.code).toBe('stale_attempt');
});

test('R-HUB-78: one session’s resume token is of no use for another name', async () => {
  const hub = await testHub();
  const { welcome } = await helloPeer(hub.url, 'alice');
  const { session, resume_token, epoch, seq } = welcome.payload;
  await join1(hub, 'bob');
  const thief = await connectPeer(hub.url, 'bob', { query: '&v=1' });
  thief.send({ type: 'hello', payload: { v: 1, resume: { session, resume_token, epoch, seq } } });
  expect((await thief.next('error')).payload.code).toBe('name_taken');
});

test.each([0, 1] as const)(
  'R-HUB-78: at level %i the words of others are not shown without the scope to watch',
  async (level) => {
    const hub = await testHub({ auth: 'required' });
    const headers = { authorization: `Bearer ${hub.grant({ agent: 'owner', scopes: ['assign'] })}` };
    const owner = (await helloPeer(hub.url, 'owner', {}, { headers })).peer;
    owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'secret' } });
    await owner.next('accepted', ({ payload }) => payload.upto === 2);
    const mallory = await bound(hub, 'mallory', level);
    const code = async (frame: Parameters<Peer['send']>[0]) => {
      mallory.send(frame);
      return (await mallory.next('error')).payload.code;
    };
    expect(await code({ type: 'log', payload: { task_id: 't1' } })).toBe('forbidden');
    expect(await code({ type: 'log', payload: {} })).toBe('forbidden');
    expect(await code({ type: 'log', payload: { task_id: 't1', tree: true } })).toBe('forbidden');
    expect(await code({ type: 'watch', payload: {} })).toBe('forbidden');
    expect(await code({ type: 'who' })).toBe('forbidden');
    expect(await code({ type: 'tasks' })).toBe('forbidden');
    owner.send({ type: 'log', payload: { task_id: 't1' } });
    const { frames } = (await owner.next('log')).payload;
    expect(frames.map(({ type }: { type: string }) => type)).toEqual(['task.assign', 'task.status']);
  },
);

test('R-HUB-78: who owns a task sees its log, and not that of tasks that merely hang below its id', async () => {
  const hub = await testHub({ auth: 'required' });
  const join = async (name: string) => {
    const headers = { authorization: `Bearer ${hub.grant({ agent: name, scopes: ['assign'] })}` };
    return (await helloPeer(hub.url, name, {}, { headers })).peer;
  };
  const [alice, mallory] = [await join('alice'), await join('mallory')];
  mallory.send({ type: 'register_task', task_id: 'a' });
  alice.send({ type: 'task.assign', to: 'role:coder', task_id: 'a.secret', payload: { goal: 'secret' } });
  await alice.next('accepted', ({ payload }) => payload.upto === 2);
  mallory.send({ type: 'log', payload: { task_id: 'a', tree: true } });
  const answer = await Promise.race([mallory.next('error'), mallory.next('log')]);
  expect(JSON.stringify(answer.payload)).not.toContain('secret');
});

test('R-HUB-101: a message or task for what cannot be a name is told what a name may be', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  a.send({ type: 'route', to: '张三', payload: 1 });
  expect((await a.next('error')).payload).toMatchObject({
    code: 'no_such_agent',
    message: expect.stringContaining('1-64 of A-Z a-z 0-9 _ -'),
  });
  a.send({ type: 'task.assign', to: '张三', task_id: 't1', payload: { goal: 'x' } });
  expect((await a.next('error')).payload.message).toContain('1-64 of A-Z a-z 0-9 _ -');
});

test('R-HUB-102: who only came to look is forgotten at its goodbye; a worker, and who sent or got a message, is not', async () => {
  const hub = await testHub();
  const look = await join1(hub, 'look');
  const known = async () => {
    const response = await fetch(`${hub.url.replace('ws', 'http')}/v1/agents?all=1`);
    return ((await response.json()) as { agents: { name: string }[] }).agents.map(({ name }) => name);
  };
  const leave = async (peer: Peer) => {
    peer.send({ type: 'bye', payload: {} });
    await peer.end();
  };
  const [viewer, reader, owner] = [await join1(hub, 'viewer'), await join1(hub, 'reader'), await join1(hub, 'owner')];
  reader.acks = false;
  look.send({ type: 'route', to: 'reader', payload: 'not acknowledged' });
  await reader.next('route');
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'x' } });
  await owner.ping();
  const worker = (await helloPeer(hub.url, 'worker', { roles: ['coder'] })).peer;
  for (const peer of [viewer, reader, owner, worker]) await leave(peer);
  expect(await known()).toEqual(['look', 'owner', 'reader', 'worker']);
  const dropped = await join1(hub, 'dropped');
  await dropped.close();
  expect(await known()).toContain('dropped');
});
