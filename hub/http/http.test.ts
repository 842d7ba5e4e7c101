import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../base/sqlite.ts';
import { assign, crew, takeUp } from '../../test/helpers/crew.ts';
import { join0, join1, result, testFolder, testHub } from '../../test/helpers/hub.ts';
import { manualClock } from '../../test/helpers/manual-clock.ts';
import { connectPeer } from '../../test/helpers/peer.ts';
import { session, task } from '../../test/helpers/storage-conformance/rows.ts';
import type { RunningHub } from '../index.ts';
import { openStorage } from '../sqlite-storage.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer it has just provoked
  readonly json: any;
}

async function ask(hub: RunningHub, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${hub.port}${path}`, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** A store whose reads of the log wait until they may, and are counted. */
function gatedTail() {
  let open: () => void = () => undefined;
  let [waiting, reads] = [0, 0];
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    open: () => open(),
    waiting: () => waiting,
    reads: () => reads,
    openStorage: async (path: string) => {
      const { storage, ...rest } = await openStorage(path);
      const tail: typeof storage.tail = async (...values) => {
        waiting += 1;
        await gate;
        waiting -= 1;
        reads += 1;
        return storage.tail(...values);
      };
      return { storage: { ...storage, tail }, ...rest };
    },
  };
}

const lines = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

test('R-HUB-70: the hub says that it lives and serves, and where its log stands', async () => {
  const hub = await testHub();
  expect(await ask(hub, '/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
  expect((await ask(hub, '/readyz')).json).toEqual({ status: 'ready', epoch: hub.epoch, lsn: 0 });
  const a = await join1(hub, 'a');
  a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted' } } });
  await a.next('accepted', ({ payload }) => payload.upto === 2);
  expect((await ask(hub, '/readyz')).json.lsn).toBe(1);
});

test('R-HUB-70: a hub that ends says so until it is gone, and lets nobody in', async () => {
  const hub = await testHub();
  // A peer that does not answer its close keeps the hub in closing for a while.
  const deaf = await join0(hub, 'deaf');
  expect((await ask(hub, '/readyz')).status).toBe(200);
  deaf.socket.pause();
  const closed = hub.close();
  expect(await ask(hub, '/readyz')).toMatchObject({ status: 503, json: { status: 'closing' } });
  expect(await ask(hub, '/healthz')).toMatchObject({ status: 200 });
  expect(await ask(hub, '/v1/log')).toMatchObject({ status: 503, json: { error: { code: 'not_ready' } } });
  const knock = await connectPeer(hub.url, 'late').catch((error: Error) => error.message);
  expect(knock).toMatch(/503/);
  await closed;
});

test('R-HUB-70: a hub whose log cannot be written is not ready', async () => {
  const database = join(await testFolder(), 'log.db');
  const hub = await testHub({ database });
  const a = await join1(hub, 'a');
  const other = await openDatabase(database);
  other.exec("CREATE TRIGGER full BEFORE INSERT ON session BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  other.close();
  a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted' } } });
  await connectPeer(hub.url, 'b', { query: '&v=1' }).then((b) => b.send({ type: 'hello', payload: { v: 1 } }));
  await hub.failed;
  expect(await ask(hub, '/readyz')).toMatchObject({ status: 503, json: { status: 'failed' } });
});

test('R-HUB-71: what is not there, wrong methods and wrong parameters are told by name, in JSON', async () => {
  const hub = await testHub();
  expect(await ask(hub, '/nope')).toMatchObject({
    status: 404,
    json: { error: { code: 'not_found', message: expect.stringContaining('/v1/tasks/ID/timeline') } },
  });
  const post = await ask(hub, '/v1/log', { method: 'POST' });
  expect(post).toMatchObject({ status: 405, json: { error: { code: 'method_not_allowed' } } });
  expect(post.headers.get('allow')).toBe('GET, HEAD');
  expect((await ask(hub, '/v1/dead', { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD, DELETE');
  expect((await ask(hub, '/healthz', { method: 'DELETE' })).status).toBe(405);
  expect((await ask(hub, '/v1/agents', { method: 'DELETE', body: 'x' })).status).toBe(413);
  for (const [query, name] of [
    ['after_lsn=x', 'after_lsn: a whole number'],
    ['limit=0', 'limit: '],
    ['last=1001', 'last: '],
    ['before_lsn=7', 'before_lsn: '],
    ['since=yesterday', 'since: '],
    ['tree=maybe', 'tree: '],
    ['task_id=a%20b', 'task_id: '],
    ['nope=1', 'nope: no such parameter; it can be after_lsn'],
    ['type=a&type=b', 'type: it is given twice'],
  ]) {
    const { status, json } = await ask(hub, `/v1/log?${query}`);
    expect({ query, status, ...json }).toMatchObject({
      status: 400,
      error: { code: 'bad_query', message: expect.stringContaining(name ?? '') },
    });
  }
  expect((await ask(hub, '/v1/tasks?state=busy')).json.error.message).toMatch(/^state: one of pending, running/);
  expect((await ask(hub, '/v1/tasks/none')).json.error).toMatchObject({ code: 'no_such_task' });
  expect((await ask(hub, '/v1/tasks/none/timeline')).status).toBe(404);
  expect((await ask(hub, '/v1/tasks/%zz')).status).toBe(404);
  expect((await ask(hub, '/ws')).status).toBe(426);
});

test('R-HUB-71: nobody between may keep or reinterpret an answer, HEAD has no body, and the page lists what there is', async () => {
  const hub = await testHub();
  for (const path of ['/', '/healthz', '/v1/agents', '/v1/log', '/nope']) {
    const { headers } = await ask(hub, path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
  for (const path of ['/', '/readyz', '/v1/agents', '/v1/tasks', '/v1/log', '/v1/dead']) {
    expect(await ask(hub, path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  }
  const { text } = await ask(hub, '/');
  expect(text).toMatch(/^GET {4}\/v1\/log/m);
  expect(text).toMatch(/^DELETE \/v1\/dead\/ID/m);
  const page = await readFile(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
  const places = [...text.matchAll(/^(GET|DELETE) +(\S+)/gm)].map(([, method, path = '']) => `${method} ${path}`);
  expect(places.length).toBeGreaterThan(10);
  const missing = places.filter((place) => !page.includes(`\`${place.replace('dead/ID', 'dead/LSN')}`));
  expect(missing).toEqual([]);
});

test('R-HUB-72: without a good token only the health is told, and a token is good for its scope', async () => {
  const hub = await testHub({ auth: 'required' });
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const watch = hub.grant({ scopes: ['watch'] });
  const work = hub.grant({ agent: 'coder-1', scopes: ['work'] });
  expect((await ask(hub, '/healthz')).status).toBe(200);
  expect((await ask(hub, '/readyz')).status).toBe(200);
  for (const path of ['/v1/agents', '/v1/tasks', '/v1/tasks/x', '/v1/tasks/x/timeline', '/v1/log', '/v1/dead']) {
    const refused = await ask(hub, path);
    expect(refused).toMatchObject({ status: 401, json: { error: { code: 'unauthorized' } } });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect((await ask(hub, path, bearer('nope'))).status).toBe(401);
    expect((await ask(hub, `${path}?token=${watch}`)).status).toBe(401);
    expect((await ask(hub, path, bearer(work))).status).toBe(403);
    expect([200, 404]).toContain((await ask(hub, path, bearer(watch))).status);
  }
  expect((await ask(hub, '/v1/dead?all=1', { method: 'DELETE', ...bearer(watch) })).status).toBe(403);
  const admin = hub.grant({ scopes: ['admin'] });
  expect((await ask(hub, '/v1/dead?all=1', { method: 'DELETE', ...bearer(admin) })).json).toEqual({ dropped: 0 });
});

test('R-HUB-73: the log is streamed as JSON Lines, from a position, by filter, and from the end', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const a = await join1(hub, 'a');
  const b = await join1(hub, 'b');
  for (let count = 1; count <= 450; count += 1) {
    if (count % 10 === 0) a.send({ type: 'route', to: 'b', payload: count });
    else
      a.send({
        type: 'task.event',
        task_id: count % 2 ? 'run.x' : 'run',
        payload: { event: { type: 'noted', count } },
      });
  }
  await b.wait(({ payload }) => payload === 450);
  const all = await ask(hub, '/v1/log');
  expect(all.headers.get('content-type')).toMatch('application/x-ndjson');
  expect(all.headers.get('hub-epoch')).toBe(hub.epoch);
  const frames = lines(all.text);
  expect(frames.map(({ lsn }) => lsn)).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
  expect(frames[9]).toMatchObject({ type: 'route', from: 'a', to: 'b', payload: 10, ts: expect.any(Number) });
  const read = async (query: string) => lines((await ask(hub, `/v1/log?${query}`)).text);
  expect((await read('after_lsn=440')).map(({ lsn }) => lsn)).toEqual([
    441, 442, 443, 444, 445, 446, 447, 448, 449, 450,
  ]);
  expect((await read('after_lsn=100&limit=2')).map(({ lsn }) => lsn)).toEqual([101, 102]);
  expect((await read('last=3')).map(({ lsn }) => lsn)).toEqual([448, 449, 450]);
  expect((await read('type=route&last=2')).map(({ payload }) => payload)).toEqual([440, 450]);
  expect((await read('last=2&before_lsn=400&type=route')).map(({ lsn }) => lsn)).toEqual([380, 390]);
  expect(await read('type=route')).toHaveLength(45);
  expect(await read('agent=b')).toHaveLength(45);
  expect(await read('task_id=run')).toHaveLength(180);
  expect(await read('task_id=run&tree=1')).toHaveLength(405);
  expect(await read(`since=${frames[0].ts}`)).toHaveLength(450);
  expect(await read(`since=${new Date(Date.now() + 1000).toISOString()}`)).toEqual([]);
});

test('R-HUB-73: nothing is read for who stops reading the log, it goes on with who goes on, and ends with who goes', async () => {
  const gated = gatedTail();
  gated.open();
  const hub = await testHub({ openStorage: gated.openStorage, limits: { rate: 0 } });
  const a = await join1(hub, 'a');
  const text = 'x'.repeat(400_000);
  // more than the buffers of two sockets take
  for (let count = 0; count < 45; count += 1) {
    a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted', text } } });
  }
  await a.wait(({ type, payload }) => type === 'accepted' && payload.upto === 46);
  // Whoever reads to the end meanwhile shows that the hub had the time to read for the other one, too.
  let others = 0;
  const whole = async () => {
    expect(lines((await ask(hub, '/v1/log')).text)).toHaveLength(45);
  };
  await whole();
  const each = gated.reads();
  const readForIt = async () => {
    for (let count = 0; count < 2; count += 1) await whole();
    others += 2;
    return gated.reads() - each * (others + 1);
  };
  const asked = request({ port: hub.port, path: '/v1/log', agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.on('error', () => undefined).pause();
  const stopped = await readForIt();
  expect(stopped).toBeLessThan((each * 2) / 3);
  let bytes = 0;
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= 4_000_000) return;
      response.pause();
      resolve();
    });
    response.resume();
  });
  const further = await readForIt();
  expect(further).toBeGreaterThan(stopped);
  asked.destroy();
  const end = await readForIt();
  expect(end).toBeLessThan(each);
  expect(await readForIt()).toBe(end);
  expect(lines((await ask(hub, '/v1/log?limit=2')).text)).toHaveLength(2);
});

test('R-HUB-73: of many large messages the newest are told as they are read, not all at once', async () => {
  const reads: number[] = [];
  const hub = await testHub({
    limits: { rate: 0 },
    openStorage: async (path) => {
      const { storage, ...rest } = await openStorage(path);
      const counted = <T extends readonly { body: Buffer }[]>(messages: T): T => {
        reads.push(messages.reduce((sum, { body }) => sum + body.length, 0));
        return messages;
      };
      const latest: typeof storage.latest = async (...values) => counted(await storage.latest(...values));
      const tail: typeof storage.tail = async (...values) => {
        const page = await storage.tail(...values);
        counted(page.messages);
        return page;
      };
      return { storage: { ...storage, latest, tail }, ...rest };
    },
  });
  const a = await join1(hub, 'a');
  const text = 'x'.repeat(100_000);
  for (let count = 0; count < 60; count += 1)
    a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted', text } } });
  await a.wait(({ type, payload }) => type === 'accepted' && payload.upto === 61);
  const lsns = async (query: string) => lines((await ask(hub, `/v1/log?${query}`)).text).map(({ lsn }) => lsn);
  const upTo = (last: number, count: number) => Array.from({ length: count }, (_, index) => last - count + 1 + index);
  expect(await lsns('last=40')).toEqual(upTo(60, 40));
  expect(await lsns('last=1000')).toEqual(upTo(60, 60));
  expect(await lsns('last=10&before_lsn=31&type=noted')).toEqual(upTo(30, 10));
  expect(await lsns('last=30&limit=3&after_lsn=35')).toEqual([36, 37, 38]);
  expect(Math.max(...reads)).toBeLessThan(400_000);
});

test('R-HUB-74: agents and tasks are told with what waits and what is stuck', async () => {
  const hub = await testHub({ clocks: { grace: 60_000, silence: 200 } });
  const owner = await join1(hub, 'owner');
  const coder = await join1(hub, 'coder-1', { roles: ['coder'], title: 'the coder' });
  const gone = await join1(hub, 'gone');
  await gone.close();
  owner.send({ type: 'route', to: 'gone', payload: 'for later' });
  owner.send({ type: 'task.assign', to: 'role:nobody', task_id: 'r.t1', payload: { goal: 'x' } });
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 'r.t2', payload: { goal: 'y' } });
  const offer = await coder.next('task.assign');
  coder.send({ type: 'task.accept', task_id: 'r.t2', attempt: offer.attempt ?? 1, payload: null });
  coder.send({ type: 'task.input', task_id: 'r.t2', attempt: 1, payload: { question: 'how?' } });
  await owner.next('task.input');
  const agents = (await ask(hub, '/v1/agents')).json.agents;
  expect(agents.map(({ name }: { name: string }) => name).sort()).toEqual(['coder-1', 'owner']);
  expect(agents.find(({ name }: { name: string }) => name === 'coder-1')).toMatchObject({
    level: 1,
    roles: ['coder'],
    title: 'the coder',
    tasks: ['r.t2'],
    online: true,
  });
  const all = (await ask(hub, '/v1/agents?all=1')).json.agents;
  expect(all.find(({ name }: { name: string }) => name === 'gone')).toMatchObject({ online: false, waiting: 1 });
  const tasks = (await ask(hub, '/v1/tasks')).json;
  expect(tasks).toMatchObject({
    more: false,
    tasks: [{ task_id: 'r.t1' }, { task_id: 'r.t2', sub_state: 'input_required' }],
  });
  expect((await ask(hub, '/v1/tasks?state=running')).json.tasks).toHaveLength(1);
  expect((await ask(hub, '/v1/tasks?state=input_required')).json.tasks).toHaveLength(1);
  expect((await ask(hub, '/v1/tasks?prefix=other')).json.tasks).toEqual([]);
  expect((await ask(hub, '/v1/tasks?limit=1')).json).toMatchObject({ tasks: [{ task_id: 'r.t2' }], more: true });
  const stuck = async () =>
    Object.fromEntries(
      (await ask(hub, '/v1/tasks?stuck=1')).json.tasks.map((task: { task_id: string; stuck: string }) => [
        task.task_id,
        task.stuck,
      ]),
    );
  expect(await stuck()).toEqual({
    'r.t1': 'no agent for role:nobody is connected',
    'r.t2': 'waits for an answer of owner',
  });
  owner.send({ type: 'task.answer', task_id: 'r.t2', payload: { text: 'so' } });
  await coder.next('task.answer');
  await coder.close();
  await expect.poll(async () => (await stuck())['r.t2']).toBe('coder-1 is not connected');
  expect((await ask(hub, '/v1/tasks/r.t2')).json.task).toMatchObject({
    task_id: 'r.t2',
    max_attempts: 3,
    silence_timeout_ms: 200,
    quiet_ms: expect.any(Number),
    has_checkpoint: false,
  });
});

test('R-HUB-74: the newest tasks of a state are found among many, in pages, and no answer is without an end', async () => {
  const database = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(database);
  const summary = 's'.repeat(2000);
  const records = Array.from({ length: 2500 }, (_, index) =>
    task(`q${index}`, { created: index, subState: index % 500 === 7 ? 'failed' : 'done', summary }),
  );
  await storage.commit(
    records.map((record) => ({ kind: 'task', task: record, expect: null })),
    1,
  );
  await storage.close();
  const hub = await testHub({ database });
  const ids = async (query: string) => {
    const { json, text } = await ask(hub, `/v1/tasks?${query}`);
    expect(text.length).toBeLessThan(3_000_000);
    return { ...json, tasks: json.tasks.map(({ task_id }: { task_id: string }) => task_id) };
  };
  expect(await ids('state=failed&prefix=q')).toEqual({ tasks: ['q7', 'q507', 'q1007', 'q1507', 'q2007'], more: false });
  expect(await ids('state=failed&limit=3')).toEqual({ tasks: ['q1007', 'q1507', 'q2007'], more: true });
  expect(await ids('state=running')).toEqual({ tasks: [], more: false });
  expect((await ids('state=done&limit=450')).tasks).toEqual(
    records
      .filter(({ subState }) => subState === 'done')
      .slice(-450)
      .map(({ taskId }) => taskId),
  );
  const all = await ids('limit=10000');
  expect(all.more).toBe(true);
  expect(all.tasks.at(-1)).toBe('q2499');
  const found: string[] = [];
  let after: string | undefined = '';
  while (after !== undefined) {
    const page: { tasks: string[]; next?: string } = await ids(`limit=10000&after=${after}`);
    found.push(...page.tasks);
    after = page.next;
  }
  expect(found).toEqual(records.map(({ taskId }) => taskId));
});

test('R-HUB-74: of many names that are away as many are told as a page has, and all in pages', async () => {
  const database = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(database);
  const names = Array.from({ length: 2300 }, (_, index) => `n${String(index).padStart(4, '0')}`);
  await storage.commit(
    names.map((name) => session(name)),
    1,
  );
  await storage.close();
  const hub = await testHub({ database });
  const found: string[] = [];
  let pages = 0;
  for (let after: string | undefined = ''; after !== undefined; pages += 1) {
    const { json }: Answer = await ask(hub, `/v1/agents?all=1&after=${after}`);
    found.push(...json.agents.map(({ name }: { name: string }) => name));
    after = json.next;
  }
  expect(pages).toBe(3);
  expect(found).toEqual(names);
  expect((await ask(hub, '/v1/agents')).json).toEqual({ agents: [] });
});

test('R-HUB-75: the timeline of a task has its attempts with waits and ends, and its frames in short', async () => {
  const hub = await testHub({ clocks: { backoffBase: 1 } });
  const { owner, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(owner, 't1');
  const offered = (attempt: number) =>
    Promise.race(
      workers.map(async (worker) => {
        await worker.next('task.assign', (frame) => frame.attempt === attempt);
        return worker;
      }),
    );
  const first = await offered(1);
  first.send({ type: 'task.decline', task_id: 't1', attempt: 1, payload: { reason: 'not now' } });
  const second = workers.find((worker) => worker !== first) as typeof first;
  await takeUp(second);
  second.send({ type: 'task.release', task_id: 't1', attempt: 1, payload: { reason: 'shift ends' } });
  await owner.next('task.status', ({ payload }) => payload.reason === 'shift ends');
  const third = await offered(2);
  third.send({ type: 'task.accept', task_id: 't1', attempt: 2, payload: null });
  third.send({ type: 'task.result', task_id: 't1', attempt: 2, payload: result('done it') });
  await owner.next('task.result');
  const { json } = await ask(hub, '/v1/tasks/t1/timeline');
  expect(json.task).toMatchObject({ task_id: 't1', state: 'done', summary: 'done it' });
  expect(json.attempts).toMatchObject([
    { attempt: 1, agent: first.name, outcome: 'void', reason: 'not now', accepted: null, work_ms: null },
    { attempt: 1, agent: second.name, outcome: 'released', reason: 'shift ends', waited_ms: expect.any(Number) },
    { attempt: 2, agent: third.name, outcome: 'success', accept_ms: expect.any(Number), work_ms: expect.any(Number) },
  ]);
  expect(json.frames[0]).toEqual({
    lsn: expect.any(Number),
    ts: expect.any(Number),
    type: 'task.assign',
    from: 'owner',
    to: 'role:coder',
    attempt: null,
    bytes: expect.any(Number),
  });
  expect(json.frames.at(-1).type).toBe('task.result');
  const page = (await ask(hub, '/v1/tasks/t1/timeline?limit=2')).json;
  expect(page.frames).toEqual(json.frames.slice(0, 2));
  expect(page.attempts).toEqual(json.attempts);
  expect((await ask(hub, `/v1/tasks/t1/timeline?after_lsn=${page.next}`)).json.frames).toEqual(json.frames.slice(2));
});

test('R-HUB-81: dead letters are listed with reason and frame, and dropped one by one, by mailbox, or all', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, clocks: { ping: 1e15 }, limits: { rate: 0 } });
  const sender = await join1(hub, 'sender');
  for (const name of ['a', 'b']) await (await join1(hub, name)).close();
  for (let count = 0; count < 5; count += 1) {
    for (const to of ['a', 'b']) sender.send({ type: 'route', to, payload: count });
  }
  await sender.ping();
  const dead = async (query = '') => (await ask(hub, `/v1/dead${query}`)).json;
  const drop = async (path: string) => (await ask(hub, `/v1/dead${path}`, { method: 'DELETE' })).json;
  expect(await dead()).toEqual({ dead: [] });
  await expect
    .poll(async () => {
      clock.advance(6 * 3_600_000);
      return (await dead()).dead.length;
    })
    .toBe(10);
  const [first, ...rest] = (await dead()).dead;
  expect(first).toMatchObject({ box: 'a', reason: expect.any(String), died_at: expect.any(Number) });
  expect(first.frame).toMatchObject({ type: 'route', from: 'sender', to: 'a', payload: 0, lsn: first.lsn });
  expect((await dead('?box=b')).dead).toHaveLength(5);
  const page = await dead('?limit=4');
  expect(page.dead).toHaveLength(4);
  expect((await dead(`?limit=100&after_lsn=${page.next}`)).dead).toEqual(rest.slice(3));
  expect(await drop(`/${first.lsn}`)).toEqual({ dropped: 1 });
  expect((await drop(`/${first.lsn}`)).error.code).toBe('not_found');
  expect((await drop('/x')).error.code).toBe('not_found');
  for (const query of ['', '?all=1&box=a', '?all=0']) expect((await drop(query)).error.code).toBe('bad_query');
  expect(await drop('?box=b')).toEqual({ dropped: 5 });
  expect((await dead()).dead.map(({ box }: { box: string }) => box)).toEqual(['a', 'a', 'a', 'a']);
  expect(await drop('?all=1')).toEqual({ dropped: 4 });
  expect(await dead()).toEqual({ dead: [] });
  // The log keeps what was dropped.
  expect(lines((await ask(hub, '/v1/log?type=route')).text)).toHaveLength(10);
});

test('R-HUB-70: while its log is being read a hub lives and is not ready, and a store that cannot be opened ends it', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  await new Promise((resolve) => holder.close(resolve));
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const starting = testHub({
    port,
    openStorage: async (path) => {
      await gate;
      return openStorage(path);
    },
  });
  const look = (path: string) => ask({ port } as RunningHub, path);
  await expect.poll(() => look('/healthz').catch(() => undefined)).toMatchObject({ status: 200 });
  expect(await look('/readyz')).toMatchObject({ status: 503, json: { status: 'opening' } });
  const early = await look('/v1/log');
  expect(early).toMatchObject({ status: 503, json: { error: { code: 'not_ready' } } });
  expect(early.headers.get('retry-after')).toBe('1');
  open();
  await starting;
  expect((await look('/readyz')).status).toBe(200);
  const broken = testHub({
    openStorage: async () => {
      throw new Error('no disk');
    },
  });
  await expect(broken).rejects.toThrow('no disk');
});

test('R-HUB-73: 64 read the log at once, the next one is told to come back, and who goes makes room', async () => {
  const gated = gatedTail();
  const hub = await testHub({ openStorage: gated.openStorage });
  const a = await join1(hub, 'a');
  a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted' } } });
  await a.next('accepted', ({ payload }) => payload.upto === 2);
  const gone = new AbortController();
  const first = ask(hub, '/v1/log', { signal: gone.signal }).catch(() => undefined);
  const rest = Array.from({ length: 63 }, () => ask(hub, '/v1/log'));
  await expect.poll(() => gated.waiting()).toBe(64);
  const refused = await ask(hub, '/v1/log');
  expect(refused).toMatchObject({ status: 503, json: { error: { code: 'rate_limited' } } });
  expect(refused.headers.get('retry-after')).toBe('5');
  gone.abort();
  await first;
  gated.open();
  expect((await Promise.all(rest)).map(({ status }) => status)).toEqual(Array.from({ length: 63 }, () => 200));
  expect((await ask(hub, '/v1/log')).status).toBe(200);
});
