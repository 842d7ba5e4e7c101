import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { type ScriptedHub, startScriptedHub } from '../test/helpers/scripted-hub.ts';
import { startTcpProxy } from '../test/helpers/tcp-proxy.ts';
import { connectHub, type HubClient, type HubClientOptions, wireCode } from './index.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function hub(): Promise<ScriptedHub> {
  const scripted = await startScriptedHub();
  cleanups.push(() => scripted.close());
  return scripted;
}

/** Starts to connect; the test welcomes it meanwhile. */
function connecting(url: string, options: Partial<HubClientOptions> = {}): Promise<HubClient> {
  const client = connectHub({
    url,
    name: 'me',
    log: silentLog(),
    reconnect: { baseMs: 5, capMs: 20, connectMs: 5000 },
    ...options,
  });
  client.then((connected) => cleanups.push(() => connected.close())).catch(() => {});
  return client;
}

const soon = { timeout: 20_000, interval: 5 };

/** Lets a few turns of the event loop pass, for what must not happen. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('R-CLIENT-1: send resolves with the id only when the cumulative count covers its frame', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const settled: string[] = [];
  const sends = ['a', 'b', 'c'].map(async (id) => {
    settled.push(await client.send({ type: 'route', to: 'you', id, payload: id }));
  });
  for (const _ of sends) await line.next('route');
  expect(line.frames.map((frame) => frame.id).slice(1)).toEqual(['a', 'b', 'c']);
  expect(settled).toEqual([]);
  line.send({ type: 'accepted', payload: { upto: 3 } });
  await Promise.all(sends.slice(0, 2));
  await turns();
  expect(settled).toEqual(['a', 'b']);
  line.accept();
  await sends[2];
});

test('R-CLIENT-2: a refused frame rejects with the code of its error, and its neighbours are accepted', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const first = client.send({ type: 'route', to: 'you' });
  const second = client.send({ type: 'route', to: 'nobody' });
  await line.next('route');
  line.refuse(await line.next('route'), 'no_such_agent');
  await first;
  const error = await second.catch((thrown: unknown) => thrown);
  expect(wireCode(error)).toBe('no_such_agent');
  expect(error).toMatchObject({ code: 'wire', details: { retryable: false } });
});

test('R-CLIENT-3: after a lost connection only what was not accepted goes out again, in order and with its id', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const states: unknown[] = [];
  client.onState((state) => states.push(state));
  const sends = ['a', 'b', 'c'].map((id) => client.send({ type: 'route', to: 'you', id }));
  for (const _ of sends) await line.next('route');
  line.send({ type: 'accepted', payload: { upto: 2 } });
  await sends[0];
  line.terminate();
  const again = await server.welcome({ resume: { state: 'recovered' } });
  expect([(await again.next('route')).id, (await again.next('route')).id]).toEqual(['b', 'c']);
  again.accept();
  await Promise.all(sends);
  expect(again.hello.payload.resume).toEqual({ session: 's1', resume_token: 'again', epoch: 'e1', seq: 0 });
  expect(states).toEqual(['lost', 'connected']);
});

test('R-CLIENT-3: what is sent while there is no connection goes out on the next one', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const lost = new Promise((resolve) => client.onState(resolve));
  line.terminate();
  await lost;
  const late = client.send({ type: 'route', to: 'you', id: 'late' });
  await expect(client.send({ type: 'task.progress', to: 'hub', once: true })).rejects.toMatchObject({
    code: 'disconnected',
  });
  const again = await server.welcome();
  expect((await again.next('route')).id).toBe('late');
  again.accept();
  await late;
});

test('R-CLIENT-4: a close code from 4500 ends the client with what the hub said', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.connection();
  line.send({
    type: 'error',
    payload: { code: 'name_taken', message: 'another agent is called me', retryable: false },
  });
  line.end(4502, 'unauthorized');
  await expect(starting).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('another agent is called me'),
    details: { code: 4502 },
  });
});

test('R-CLIENT-4: an eviction later closes the client and rejects what waits', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const closed = new Promise((resolve) => client.onState((state) => state === 'closed' && resolve(state)));
  const waiting = client.send({ type: 'route', to: 'you' });
  const asking = client.agents();
  await line.next('who');
  line.end(4504, 'evicted by operator');
  await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining('evicted by operator') });
  await expect(asking).rejects.toMatchObject({ code: 'refused' });
  await closed;
  await expect(client.send({ type: 'route', to: 'you' })).rejects.toMatchObject({ code: 'refused' });
});

test('R-CLIENT-4: an upgrade that is refused with a reason is not tried again', async () => {
  let requests = 0;
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => server.close());
  server.on('upgrade', (_request, socket) => {
    requests += 1;
    const body = JSON.stringify({ error: { code: 'unauthorized', message: 'a token is needed here' } });
    socket.end(`HTTP/1.1 401 Unauthorized\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  });
  const starting = connecting(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await expect(starting).rejects.toMatchObject({
    message: expect.stringMatching(/the hub at 127\.0\.0\.1:\d+ asks for its token; name its file/),
    details: { code: 401, said: 'a token is needed here' },
  });
  expect(requests).toBe(1);
});

test('R-CLIENT-5: without a hub the first connection gives up in time and says how to start one', async () => {
  const closed = await hub();
  await closed.close();
  cleanups.pop();
  const starting = connectHub({
    url: closed.url,
    name: 'me',
    log: silentLog(),
    reconnect: { baseMs: 5, capMs: 10, connectMs: 60 },
  });
  await expect(starting).rejects.toMatchObject({
    code: 'disconnected',
    message: expect.stringMatching(/no hub answers at 127\.0\.0\.1:\d+.*npc-crew hub/),
  });
});

test('R-CLIENT-5: a hub that is not ready yet is tried again', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => server.close());
  const starting = connecting(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  let tries = 0;
  server.on('upgrade', (_request, socket) => {
    tries += 1;
    if (tries === 1) socket.destroy();
    else if (tries === 2) socket.end('HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n');
    else socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
  });
  await expect(starting).rejects.toMatchObject({ details: { code: 403 } });
  expect(tries).toBe(3);
});

test('R-CLIENT-6: a handler sees each frame once, and it is acknowledged after the handler has settled', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const seen: number[] = [];
  const finish: (() => void)[] = [];
  client.on('route', ({ seq = 0 }) => {
    seen.push(seq);
    return new Promise((resolve) => finish.push(resolve));
  });
  line.send({ type: 'route', from: 'you', seq: 5, prev: 0 });
  line.send({ type: 'route', from: 'you', seq: 9, prev: 5 });
  await expect.poll(() => seen).toEqual([5, 9]);
  finish[1]?.();
  await turns();
  expect(line.frames.filter((frame) => frame.type === 'ack')).toEqual([]);

  line.terminate();
  const again = await server.welcome({ resume: { state: 'recovered' } });
  expect(again.hello.payload.resume.seq).toBe(0);
  again.send({ type: 'route', from: 'you', seq: 5, prev: 0, redelivered: 1 });
  again.send({ type: 'route', from: 'you', seq: 9, prev: 5, redelivered: 1 });
  again.send({ type: 'route', from: 'you', seq: 12, prev: 9 });
  await expect.poll(() => seen).toEqual([5, 9, 12]);
  finish[0]?.();
  expect((await again.next('ack')).payload).toEqual({ seq: 9 });
  finish[2]?.();
  expect((await again.next('ack')).payload).toEqual({ seq: 12 });
});

test('R-CLIENT-6: what comes with the welcome waits for its handler, each type for its own', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const offer = { type: 'task.assign', from: 'you', task_id: 't', attempt: 1, payload: { goal: 'unnumbered' } };
  const routes = [1, 2].map((seq) => ({ type: 'route', from: 'you', seq, prev: seq - 1, payload: `early ${seq}` }));
  const line = await server.welcome({ with: [offer, ...routes] });
  const client = await starting;
  const seen: unknown[] = [];
  client.on('event', () => {});
  await turns();
  client.on('route', ({ payload }) => {
    seen.push(payload);
  });
  line.send({ type: 'route', from: 'you', seq: 3, prev: 2, payload: 'late' });
  await expect.poll(() => seen).toEqual(['early 1', 'early 2', 'late']);
  client.on('task.assign', ({ payload }) => {
    seen.push(payload.goal);
  });
  await expect.poll(() => seen.at(-1)).toBe('unnumbered');
  await expect.poll(() => line.frames.filter(({ type }) => type === 'ack').at(-1)?.payload).toEqual({ seq: 3 });
});

test('R-CLIENT-6: a whole window that comes with the welcome waits for the first handler', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const routes = Array.from({ length: 32 }, (_, index) => ({
    type: 'route',
    from: 'you',
    seq: index + 1,
    prev: index,
  }));
  const line = await server.welcome({ with: routes });
  const client = await starting;
  await turns();
  expect(line.frames.filter(({ type }) => type === 'ack')).toEqual([]);
  const seen: unknown[] = [];
  client.on('route', ({ seq }) => {
    seen.push(seq);
  });
  await expect.poll(() => seen).toEqual(routes.map(({ seq }) => seq));
});

test('R-CLIENT-6: a program without any handler does not hold up its mailbox for ever', async () => {
  const server = await hub();
  const clock = manualClock();
  const starting = connecting(server.url, { clock });
  const routes = Array.from({ length: 32 }, (_, index) => ({
    type: 'route',
    from: 'you',
    seq: index + 1,
    prev: index,
  }));
  const line = await server.welcome({ with: routes });
  await starting;
  clock.advance(10_000);
  expect((await line.next('ack')).payload).toEqual({ seq: 16 });
});

test.each([
  ['one frame', (seq: number) => seq > 1],
  ['most frames', (seq: number) => seq % 3 === 0],
])('R-CLIENT-6: %s that nobody handles cannot fill the window for those that somebody does', async (_name, wanted) => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  let [sent, handled] = [0, 0];
  client.on('task.cancel', () => {
    handled += 1;
  });
  const acked = () => line.frames.filter(({ type }) => type === 'ack').at(-1)?.payload.seq ?? 0;
  for (let seq = 1; seq <= 200; seq += 1) {
    const frame = { from: 'you', seq, prev: seq - 1 };
    if (wanted(seq)) {
      sent += 1;
      line.send({ ...frame, type: 'task.cancel', payload: { reason: 'x' } });
    } else line.send({ ...frame, type: 'route' });
    await expect.poll(() => seq - acked(), { interval: 1 }).toBeLessThan(32);
  }
  await expect.poll(() => handled).toBe(sent);
});

test('R-CLIENT-6: a handler that throws and an unreadable frame do not hold up the mailbox', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  client.on('route', () => {
    throw new Error('broken handler');
  });
  line.send({ type: 'route', from: 'you', seq: 1, prev: 0 });
  line.send({ type: 'task.status', seq: 2, prev: 1, payload: { wrong: 'shape' } });
  line.send({ type: 'telepathy', seq: 3, prev: 2 });
  await expect.poll(() => line.frames.filter(({ type }) => type === 'ack').at(-1)?.payload).toEqual({ seq: 3 });
});

test('R-CLIENT-7: a gap is told, and mailbox numbers start anew with another log', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const states: unknown[] = [];
  client.onState((state) => states.push(state));
  const seen: unknown[] = [];
  client.on('route', ({ payload }) => {
    seen.push(payload);
  });
  line.send({ type: 'route', from: 'you', seq: 7, prev: 3, payload: 'one' });
  line.send({ type: 'route', from: 'you', seq: 9, prev: 8, payload: 'two' });
  await line.next('ack');
  line.terminate();
  const gone = await server.welcome({ resume: { state: 'gap', from: 9, to: 20, reason: 'retention' } });
  gone.terminate();
  const other = await server.welcome({ epoch: 'e2', session: 's2' });
  other.send({ type: 'route', from: 'you', seq: 1, prev: 0, payload: 'three' });
  expect((await other.next('ack')).payload).toEqual({ seq: 1 });
  expect(seen).toEqual(['one', 'two', 'three']);
  expect(states).toEqual([
    { gap: { from: 7, to: 8, reason: 'the hub skipped mailbox numbers' } },
    'lost',
    'connected',
    { gap: { from: 9, to: 20, reason: 'retention' } },
    'lost',
    'connected',
    { gap: { reason: 'the hub started with another log' } },
  ]);
  expect(client.session).toBe('s2');
});

test('R-CLIENT-8: a hub that says nothing any more is left for a new connection', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome({ pingMs: 40, pongMs: 20 });
  const client = await starting;
  const lost = new Promise((resolve) => client.onState(resolve));
  line.freeze();
  expect(await lost).toBe('lost');
  expect(client.silentFor()).toBeGreaterThanOrEqual(40);
  await server.welcome();
  await expect.poll(() => client.silentFor()).toBeLessThan(40);
});

test('R-CLIENT-8: the silence grows while nobody answers, however often it is tried', async () => {
  const server = await startScriptedHub();
  const starting = connecting(server.url);
  await server.welcome();
  const client = await starting;
  const lost = new Promise((resolve) => client.onState(resolve));
  await server.close();
  await lost;
  await expect.poll(() => client.silentFor(), { interval: 5 }).toBeGreaterThan(100);
});

test('R-CLIENT-8: a quiet hub that answers pings is kept', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome({ pingMs: 15, pongMs: 200 });
  const client = await starting;
  const states: unknown[] = [];
  client.onState((state) => states.push(state));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(states).toEqual([]);
  expect(line.frames).toHaveLength(1);
});

test('R-CLIENT-9: a question is asked again after a reconnect, and its answer is found by ref', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const agents = client.agents();
  const first = await line.next('who');
  line.accept();
  line.terminate();
  const again = await server.welcome();
  const second = await again.next('who');
  expect(second.id).toBe(first.id);
  again.send({ type: 'who', ref: 'another', payload: { agents: [] } });
  const row = { name: 'me', level: 1, roles: [], connected: 1, last_seen: 2, tasks: [] };
  again.send({ type: 'who', ref: second.id, payload: { agents: [row] } });
  expect(await agents).toEqual([row]);
});

test('R-CLIENT-9: a question ends by its time limit, by its signal, and by a refusal', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  await expect(client.ask({ type: 'ping', to: 'hub' }, { timeoutMs: 10 })).rejects.toMatchObject({ code: 'timeout' });
  const controller = new AbortController();
  const aborted = client.ask({ type: 'who', to: 'hub' }, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const asked = client.ask({ type: 'task.input', to: 'hub', task_id: 't', payload: { question: 'which?' } });
  const question = await line.next('task.input');
  line.accept();
  await turns();
  line.refuse(question, 'no_such_task');
  expect(await asked.catch(wireCode)).toBe('no_such_task');
});

test('R-CLIENT-13: an id that the hub could not name in an error is refused before it leaves', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  await server.welcome();
  const client = await starting;
  const frame = { type: 'route', to: 'you', id: 'x'.repeat(129) } as const;
  await expect(client.send(frame)).rejects.toMatchObject({ code: 'usage' });
  await expect(client.ask(frame)).rejects.toMatchObject({ code: 'usage' });
});

test('R-CLIENT-10: a frame larger than the hub takes is refused here, and the connection stays', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const large = client.send({ type: 'route', to: 'you', payload: 'x'.repeat(600_000) });
  expect(await large.catch(wireCode)).toBe('too_large');
  const small = client.send({ type: 'route', to: 'you', payload: 'x' });
  await line.next('route');
  line.accept();
  await small;
});

test('R-CLIENT-11: close waits a moment for what is on its way and says bye', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const sent = client.send({ type: 'route', to: 'you' });
  await line.next('route');
  const closing = client.close();
  await turns();
  expect(line.frames.some(({ type }) => type === 'bye')).toBe(false);
  line.accept();
  await sent;
  await line.next('bye');
  await closing;
  await expect(client.send({ type: 'route', to: 'you' })).rejects.toMatchObject({ code: 'disconnected' });
});

test('R-CLIENT-11: what was handled is acknowledged before bye, and what comes after close is left to the next client', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const seen: unknown[] = [];
  let finish = (): void => {};
  client.on('route', ({ seq }) => {
    seen.push(seq);
    if (seq === 2)
      return new Promise((resolve) => {
        finish = resolve;
      });
    return undefined;
  });
  await turns();
  for (const seq of [1, 2]) line.send({ type: 'route', from: 'you', seq, prev: seq - 1 });
  await expect.poll(() => seen).toEqual([1, 2]);
  const closing = client.close();
  line.send({ type: 'route', from: 'you', seq: 3, prev: 2 });
  await turns();
  expect(line.frames.some(({ type }) => type === 'bye')).toBe(false);
  finish();
  await line.next('bye');
  await closing;
  expect(seen).toEqual([1, 2]);
  const last = line.frames.filter(({ type }) => type === 'ack').at(-1);
  expect(last?.payload).toEqual({ seq: 2 });
  expect(line.frames.at(-1)?.type).toBe('bye');
});

test('R-CLIENT-11: aborting the signal closes the client, also while it waits to reconnect', async () => {
  const server = await hub();
  const controller = new AbortController();
  const starting = connecting(server.url, {
    signal: controller.signal,
    reconnect: { baseMs: 60_000, capMs: 60_000 },
  });
  const line = await server.welcome();
  const client = await starting;
  const closed = new Promise<void>((resolve) => client.onState((state) => state === 'closed' && resolve()));
  line.terminate();
  await new Promise((resolve) => client.onState(resolve));
  controller.abort();
  await closed;
});

test('R-CLIENT-12: a watch goes on after a reconnect where it was, and shows no frame twice', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const seen: unknown[] = [];
  client.on('event', ({ payload }) => {
    seen.push(payload.frame.lsn);
  });
  const watching = client.watch({ task_id: 'run' });
  expect((await line.next('watch')).payload).toEqual({ task_id: 'run' });
  line.accept();
  await watching;
  const event = (lsn: number) => ({
    type: 'event',
    payload: { frame: { type: 'route', from: 'a', to: 'b', task_id: 'run', payload: {}, lsn } },
  });
  line.send(event(3));
  await expect.poll(() => seen).toEqual([3]);
  line.terminate();
  const again = await server.welcome();
  expect((await again.next('watch')).payload).toEqual({ task_id: 'run', after_lsn: 3 });
  again.send(event(3));
  again.send(event(4));
  await expect.poll(() => seen).toEqual([3, 4]);
});

test('R-CLIENT-13: a wrong address and a wrong name are told before anything is tried', async () => {
  await expect(connectHub({ url: 'localhost:1', name: 'me', log: silentLog() })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('ws://127.0.0.1:8765'),
  });
  await expect(connectHub({ url: 'ws://127.0.0.1:1', name: 'hub', log: silentLog() })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('"hub" cannot be a name'),
  });
});

test('R-CLIENT-14: no more than 4,096 frames are with the hub; the others wait, and all keep their order over a lost connection', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const sends = Array.from({ length: 4100 }, (_, index) =>
    client.send({ type: 'route', to: 'you', id: `f${index}`, payload: index }),
  );
  await expect.poll(() => line.frames.length, soon).toBe(1 + 4096);
  await turns();
  expect(line.frames).toHaveLength(1 + 4096);
  line.send({ type: 'accepted', payload: { upto: 3 } });
  await Promise.all(sends.slice(0, 2));
  await expect.poll(() => line.frames.length, soon).toBe(1 + 4098);
  line.terminate();
  const again = await server.welcome();
  await expect.poll(() => again.frames.length, soon).toBe(1 + 4096);
  again.accept();
  await expect.poll(() => again.frames.length, soon).toBe(1 + 4098);
  again.accept();
  await Promise.all(sends);
  expect(again.frames.slice(1).map(({ payload }) => payload)).toEqual(
    Array.from({ length: 4098 }, (_, index) => index + 2),
  );
});

test('R-CLIENT-14: large frames wait for room, too, and a refused one makes it', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const text = 'x'.repeat(500_000);
  const sends = Array.from({ length: 40 }, () => client.send({ type: 'route', to: 'you', payload: text }));
  await expect.poll(() => line.frames.length, soon).toBe(1 + 34);
  await turns();
  expect(line.frames).toHaveLength(1 + 34);
  line.refuse(await line.next('route'), 'mailbox_full');
  await expect(sends[0]).rejects.toMatchObject({ code: 'wire' });
  await Promise.all(sends.slice(1, 34));
  await expect.poll(() => line.frames.length, soon).toBe(1 + 40);
  line.accept();
  await Promise.all(sends.slice(34));
});

test('R-CLIENT-15: acknowledgements are few: at once after a pause, then every 16 messages or 200 ms, and before bye', async () => {
  const server = await hub();
  const clock = manualClock();
  const starting = connecting(server.url, { clock });
  const line = await server.welcome();
  const client = await starting;
  let handled = 0;
  client.on('route', () => {
    handled += 1;
  });
  const acks = () => line.frames.filter(({ type }) => type === 'ack').map(({ payload }) => payload.seq);
  const deliver = async (from: number, upto: number) => {
    for (let seq = from; seq <= upto; seq += 1) line.send({ type: 'route', from: 'you', seq, prev: seq - 1 });
    await expect.poll(() => handled, soon).toBe(upto);
    await turns();
  };
  await deliver(1, 1);
  expect(acks()).toEqual([1]);
  await deliver(2, 10);
  expect(acks()).toEqual([1]);
  clock.advance(200);
  await expect.poll(acks, soon).toEqual([1, 10]);
  for (let seq = 11; seq <= 26; seq += 1) await deliver(seq, seq);
  expect(acks()).toEqual([1, 10, 26]);
  await deliver(27, 30);
  void client.close();
  await line.next('bye');
  expect(acks()).toEqual([1, 10, 26, 30]);
  line.end(1000);
});

test('R-CLIENT-7: a hub that came back with an older state of its log is heard, its numbers begin where it says', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const seen: unknown[] = [];
  client.on('route', ({ payload }) => {
    seen.push(payload);
  });
  line.send({ type: 'route', from: 'you', seq: 50, prev: 0, payload: 'lost by the hub' });
  await line.next('ack');
  line.terminate();
  const older = await server.welcome({ resume: { state: 'gap', from: 50, to: 20, reason: 'not of this mailbox' } });
  older.send({ type: 'route', from: 'you', seq: 21, prev: 0, payload: 'new' });
  await expect.poll(() => seen).toEqual(['lost by the hub', 'new']);
});

test('R-CLIENT-16: handlers that throw end nothing, whatever they are for', async () => {
  const server = await hub();
  const starting = connecting(server.url);
  const line = await server.welcome();
  const client = await starting;
  const states: unknown[] = [];
  client.onState(() => {
    throw new Error('broken');
  });
  client.onState((state) => states.push(state));
  line.terminate();
  const again = await server.welcome();
  again.end(4504, 'evicted');
  await expect.poll(() => states).toEqual(['lost', 'connected', 'lost', 'closed']);
});

test('R-CLIENT-11: close ends a client whose connection is still being made', async () => {
  const mute = createTcpServer();
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const server = await hub();
  cleanups.push(async () => mute.close());
  const road = await startTcpProxy();
  cleanups.push(() => road.close());
  road.target = Number(new URL(server.url).port);
  const starting = connecting(road.url);
  const line = await server.welcome();
  const client = await starting;
  road.target = (mute.address() as AddressInfo).port;
  const reached = once(mute, 'connection');
  line.terminate();
  await reached;
  const waiting = client.send({ type: 'route', to: 'you' });
  const began = performance.now();
  await client.close();
  expect(performance.now() - began).toBeLessThan(3000);
  await expect(waiting).rejects.toMatchObject({ code: 'disconnected' });
});
