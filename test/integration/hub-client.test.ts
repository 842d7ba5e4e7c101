import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { type HubOptions, type RunningHub, startHub } from '../../hub/index.ts';
import {
  type AssignedTask,
  connectHub,
  type HubClient,
  type HubClientOptions,
  serveTasks,
  wireCode,
} from '../../hub-client/index.ts';
import type { FrameOf } from '../../protocol/index.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function hub(options: Partial<HubOptions> = {}): Promise<RunningHub> {
  const running = await startHub({ port: 0, database: ':memory:', log: silentLog(), ...options });
  cleanups.push(() => running.close());
  return running;
}

async function enter(url: string, name: string, options: Partial<HubClientOptions> = {}): Promise<HubClient> {
  const client = await connectHub({ url, name, log: silentLog(), reconnect: { baseMs: 5, capMs: 20 }, ...options });
  cleanups.push(() => client.close());
  return client;
}

interface Owner {
  readonly client: HubClient;
  readonly statuses: FrameOf<'task.status'>['payload'][];
  /** The next result. */
  result(): Promise<FrameOf<'task.result'>>;
  assign(taskId: string, options?: { to?: string; goal?: string }): Promise<string>;
}

async function owner(url: string, options: Partial<HubClientOptions> = {}): Promise<Owner> {
  const client = await enter(url, 'boss', options);
  const statuses: FrameOf<'task.status'>['payload'][] = [];
  const results: FrameOf<'task.result'>[] = [];
  client.on('task.status', ({ payload }) => {
    statuses.push(payload);
  });
  client.on('task.result', (frame) => {
    results.push(frame);
  });
  return {
    client,
    statuses,
    result: async () => {
      await expect.poll(() => results.length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(0);
      return results.shift() as FrameOf<'task.result'>;
    },
    assign: (taskId, { to = 'role:coder', goal = 'add 1 and 2' } = {}) =>
      client.send({ type: 'task.assign', to, task_id: taskId, payload: { goal } }),
  };
}

const good = (summary = 'done') => ({ status: 'success' as const, summary });
const untilAborted = (task: AssignedTask): Promise<never> =>
  new Promise((_resolve, reject) => {
    task.signal.addEventListener('abort', () => reject(task.signal.reason), { once: true });
  });
const soon = { timeout: 10_000, interval: 5 };

test('R-CLIENT-50: two nodes, one task: given to a role, worked on, answered, and all of it in the log', async () => {
  const { url } = await hub();
  const boss = await owner(url);
  const worker = await enter(url, 'coder-1', { roles: ['coder'] });
  serveTasks(worker, async (task) => {
    task.note('counting');
    await task.event({ type: 'sum.found', sum: 3 });
    return good('1 and 2 are 3');
  });
  expect((await worker.agents()).map(({ name, roles }) => [name, roles])).toEqual([
    ['boss', []],
    ['coder-1', ['coder']],
  ]);
  await boss.assign('run.add');
  expect(await boss.result()).toMatchObject({
    from: 'coder-1',
    task_id: 'run.add',
    attempt: 1,
    payload: { status: 'success', summary: '1 and 2 are 3' },
  });
  expect(boss.statuses.map(({ sub_state }) => sub_state)).toEqual(['offered', 'working']);
  expect(await boss.client.tasks('run.')).toMatchObject([{ state: 'done', attempt: 1, summary: '1 and 2 are 3' }]);
  const types: string[] = [];
  for await (const frame of boss.client.readLog({ task_id: 'run', tree: true })) types.push(frame.type);
  expect(types).toEqual([
    'task.assign',
    'task.status',
    'task.accept',
    'task.status',
    'task.progress',
    'task.event',
    'task.result',
  ]);
});

test('R-CLIENT-51: a mute worker loses its task to another, its late result is refused and changes nothing', async () => {
  const { url } = await hub({ clocks: { silence: 120, accept: 120, backoffBase: 1 } });
  const boss = await owner(url);
  const ends: unknown[] = [];
  let release = (): void => {};
  const mute = await enter(url, 'coder-1', { roles: ['coder'] });
  serveTasks(mute, async (task) => {
    task.signal.addEventListener('abort', () => ends.push(task.signal.reason.details.why));
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    await task.event({ type: 'woke.up' }).catch((error: unknown) => ends.push(wireCode(error)));
    return good('too late');
  });
  await boss.assign('t1');
  await expect.poll(() => boss.statuses.at(-1)?.sub_state, soon).toBe('working');
  const second = await enter(url, 'coder-2', { roles: ['coder'] });
  serveTasks(second, async () => good('in time'));
  expect(await boss.result()).toMatchObject({ from: 'coder-2', attempt: 2, payload: { summary: 'in time' } });
  release();
  await expect.poll(() => ends, soon).toEqual(['lost', 'stale_attempt']);
  expect(await boss.client.tasks()).toMatchObject([{ state: 'done', agent: 'coder-2', summary: 'in time' }]);
});

test('R-CLIENT-51: work that shows signs of life, or says how long it will be quiet, outlasts many silences', async () => {
  const { url } = await hub({ clocks: { silence: 300 } });
  const boss = await owner(url);
  const worker = await enter(url, 'coder-1', { roles: ['coder'] });
  serveTasks(
    worker,
    async (task) => {
      for (let delta = 0; delta < 40; delta += 1) {
        await new Promise((resolve) => setTimeout(resolve, 15));
        task.alive();
      }
      task.alive(Date.now() + 600);
      await new Promise((resolve) => setTimeout(resolve, 600));
      return good();
    },
    { progressMs: 50 },
  );
  await boss.assign('t1');
  expect(await boss.result()).toMatchObject({ attempt: 1 });
});

test('R-CLIENT-52: cut connections on both sides cost neither a frame nor the attempt', async () => {
  const road = await startTcpProxy();
  cleanups.push(() => road.close());
  const { port, url } = await hub({ hostNames: [`127.0.0.1:${road.port}`] });
  road.target = port;
  const boss = await owner(road.url);
  const worker = await enter(road.url, 'coder-1', { roles: ['coder'] });
  const heard: unknown[] = [];
  boss.client.on('route', ({ payload }) => {
    heard.push(payload);
  });
  const told = Array.from({ length: 60 }, (_, index) => index);
  serveTasks(worker, async (task) => {
    const sends = told.map(async (index) => {
      await task.event({ type: 'step.done', index });
      await worker.send({ type: 'route', to: 'boss', payload: index });
      if (index % 20 === 10) road.cut();
    });
    await Promise.all(sends);
    return good();
  });
  await boss.assign('t1');
  expect(await boss.result()).toMatchObject({ attempt: 1, payload: { summary: 'done' } });
  await expect.poll(() => heard.length, soon).toBe(told.length);
  expect(heard).toEqual(told);
  const observer = await enter(url, 'observer');
  const steps: unknown[] = [];
  for await (const { payload } of observer.readLog({ task_id: 't1', type: 'task.event' })) {
    steps.push((payload as { event: { index: number } }).event.index);
  }
  expect(steps.sort((a, b) => Number(a) - Number(b))).toEqual(told);
});

test('R-CLIENT-52: a hub that is started again on its log finds owner, worker and the same attempt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hub-client-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const options = { database: join(folder, 'log.db'), log: silentLog() };
  const first = await startHub({ port: 0, ...options });
  const boss = await owner(first.url);
  const worker = await enter(first.url, 'coder-1', { roles: ['coder'] });
  let finish = (): void => {};
  serveTasks(
    worker,
    () =>
      new Promise((resolve) => {
        finish = () => resolve(good());
      }),
  );
  await boss.assign('t1');
  await expect.poll(() => boss.statuses.at(-1)?.sub_state, soon).toBe('working');
  await first.close();
  const said = boss.client.send({ type: 'route', to: 'coder-1', payload: 'while you were out' });
  finish();
  const second = await startHub({ port: first.port, ...options });
  cleanups.push(() => second.close());
  expect(await boss.result()).toMatchObject({ attempt: 1 });
  await said;
  expect(await boss.client.tasks()).toMatchObject([{ state: 'done', attempt: 1 }]);
});

test('R-CLIENT-53: a name is its first holder’s; the second is told so and does not come back', async () => {
  const { url } = await hub();
  const first = await enter(url, 'coder-1');
  const heard: unknown[] = [];
  first.on('route', ({ payload }) => {
    heard.push(payload);
  });
  await expect(connectHub({ url, name: 'coder-1', log: silentLog() })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('another agent has this name'),
  });
  const other = await enter(url, 'other');
  await other.send({ type: 'route', to: 'coder-1', payload: 'still there?' });
  await expect.poll(() => heard, soon).toEqual(['still there?']);
  await first.close();
  await enter(url, 'coder-1');
});

test('R-CLIENT-53: with a token bound to its name a restarted agent replaces itself; without one nobody gets in', async () => {
  const running = await hub({ auth: 'required' });
  await expect(connectHub({ url: running.url, name: 'coder-1', log: silentLog() })).rejects.toMatchObject({
    message: expect.stringMatching(/asks for its token|has another token/),
  });
  const token = running.grant({ agent: 'coder-1', scopes: ['work'] });
  const old = await enter(running.url, 'coder-1', { token, reconnect: { baseMs: 60_000 } });
  const lost = new Promise((resolve) => old.onState(resolve));
  const next = await enter(running.url, 'coder-1', { token });
  expect(await lost).toBe('lost');
  expect(next.session).not.toBe(old.session);
  await expect(next.tasks()).rejects.toMatchObject({ details: { code: 'forbidden' } });
});

test('R-CLIENT-54: a question of the worker reaches the owner, and the answer the worker', async () => {
  const { url } = await hub();
  const boss = await owner(url);
  const worker = await enter(url, 'coder-1', { roles: ['coder'] });
  serveTasks(worker, async (task) => good(`into ${await task.input('into which branch?')}`));
  boss.client.on('task.input', async ({ id = '', task_id, payload }) => {
    expect(payload.question).toBe('into which branch?');
    await boss.client.send({ type: 'task.answer', to: 'hub', task_id, ref: id, payload: { text: 'main' } });
  });
  await boss.assign('t1');
  expect((await boss.result()).payload.summary).toBe('into main');
});

test('R-CLIENT-54: a cancel ends the work at once', async () => {
  const { url } = await hub();
  const boss = await owner(url);
  const worker = await enter(url, 'coder-1', { roles: ['coder'] });
  const reasons: string[] = [];
  serveTasks(worker, (task) =>
    untilAborted(task).catch((error: Error) => {
      reasons.push(error.message);
      throw error;
    }),
  );
  await boss.assign('t1');
  await expect.poll(() => boss.statuses.at(-1)?.sub_state, soon).toBe('working');
  await boss.client.send({ type: 'task.cancel', to: 'hub', task_id: 't1', payload: { reason: 'not needed' } });
  await expect.poll(() => boss.statuses.at(-1)?.sub_state, soon).toBe('cancelled');
  expect(reasons).toEqual(['Cancelled: not needed']);
});

test('R-CLIENT-54: a worker that stops hands its task to the next one without using an attempt up', async () => {
  const { url } = await hub({ clocks: { backoffBase: 1 } });
  const boss = await owner(url);
  const first = await enter(url, 'coder-1', { roles: ['coder'] });
  const stop = serveTasks(first, untilAborted);
  await boss.assign('t1');
  await expect.poll(() => boss.statuses.at(-1)?.sub_state, soon).toBe('working');
  const second = await enter(url, 'coder-2', { roles: ['coder'] });
  serveTasks(second, async () => good());
  await stop();
  await first.close();
  expect(await boss.result()).toMatchObject({ from: 'coder-2', payload: { summary: 'done' } });
});

test('R-CLIENT-54: many tasks go through one worker of two places, none declined', async () => {
  const { url } = await hub({ concurrency: 2 });
  const boss = await owner(url);
  const worker = await enter(url, 'coder-1', { roles: ['coder'], maxConcurrency: 2 });
  let now = 0;
  let most = 0;
  serveTasks(worker, async (task) => {
    now += 1;
    most = Math.max(most, now);
    await task.event({ type: 'thing.done' });
    now -= 1;
    return good(task.id);
  });
  const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
  await Promise.all(ids.map((id) => boss.assign(id)));
  const done = new Set<string>();
  while (done.size < ids.length) done.add((await boss.result()).payload.summary);
  expect(most).toBe(2);
  const declined = [];
  for await (const frame of boss.client.readLog({ type: 'task.decline' })) declined.push(frame);
  expect(declined).toEqual([]);
});

test('R-CLIENT-55: the log is read to its end through as many pages as it has, and watched from there', async () => {
  const { url } = await hub({ limits: { rate: 0 } });
  const writer = await enter(url, 'writer');
  const reader = await enter(url, 'reader');
  const write = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        writer.send({
          type: 'task.event',
          to: 'hub',
          task_id: 'run',
          payload: { event: { type: 'n', n: from + index } },
        }),
      ),
    );
  await write(0, 1200);
  const seen: number[] = [];
  let last = 0;
  for await (const { payload, lsn = 0 } of reader.readLog({ task_id: 'run' })) {
    seen.push((payload as { event: { n: number } }).event.n);
    last = lsn;
  }
  expect(seen).toEqual(Array.from({ length: 1200 }, (_, index) => index));
  await write(1200, 10);
  reader.on('event', ({ payload }) => {
    seen.push((payload.frame.payload as { event: { n: number } }).event.n);
  });
  await reader.watch({ task_id: 'run', after_lsn: last });
  await write(1210, 10);
  await expect.poll(() => seen.length, soon).toBe(1220);
  expect(seen).toEqual(Array.from({ length: 1220 }, (_, index) => index));
});

test('R-CLIENT-56: what nobody can get is told to the sender', async () => {
  const { url } = await hub();
  const client = await enter(url, 'me');
  expect(await client.send({ type: 'route', to: 'nobody' }).catch(wireCode)).toBe('no_such_agent');
  expect(await client.send({ type: 'route', to: 'role:nobody' }).catch(wireCode)).toBe('no_worker');
  const twice = { type: 'route', to: 'me', id: 'twice' } as const;
  await client.send({ ...twice, payload: 'one' });
  await client.send({ ...twice, payload: 'one' });
  expect(await client.send({ ...twice, payload: 'two' }).catch(wireCode)).toBe('duplicate_id_conflict');
});

/** A worker process, and what it says line by line. */
async function spawnWorker(url: string, name: string): Promise<{ process: ChildProcess; said: string[] }> {
  const program = fileURLToPath(new URL('../fixtures/worker.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, url, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await expect.poll(() => said, soon).toContain('ready');
  return { process: child, said };
}

test('R-CLIENT-57: kill -9 of a worker: the next one gets attempt 2 and reads what the first had logged', async () => {
  const { url } = await hub({ clocks: { grace: 50, backoffBase: 1 } });
  const boss = await owner(url);
  const first = await spawnWorker(url, 'coder-1');
  await boss.assign('t1');
  await expect.poll(() => first.said, soon).toContain('begun');
  first.process.kill('SIGKILL');
  await spawnWorker(url, 'coder-1');
  expect(await boss.result()).toMatchObject({ attempt: 2, payload: { summary: 'coder-1 saw 1 turns' } });
  expect(boss.statuses.map(({ sub_state }) => sub_state)).toEqual([
    'offered',
    'working',
    'queued',
    'offered',
    'working',
  ]);
});

test('R-CLIENT-57: a stopped worker process is replaced, and finds on waking that the task is no longer its own', async () => {
  const { url } = await hub({ clocks: { ping: 150, pong: 250, grace: 100, backoffBase: 1 } });
  const boss = await owner(url);
  const first = await spawnWorker(url, 'coder-1');
  await boss.assign('t1');
  await expect.poll(() => first.said, soon).toContain('begun');
  first.process.kill('SIGSTOP');
  await spawnWorker(url, 'coder-2');
  expect(await boss.result()).toMatchObject({ from: 'coder-2', attempt: 2 });
  first.process.kill('SIGCONT');
  await expect.poll(() => first.said, soon).toContain('aborted lost');
  expect(await boss.client.tasks()).toMatchObject([{ state: 'done', agent: 'coder-2' }]);
});

test('R-CLIENT-58: of two programs with the same name and token the newer one stays, and the older one ends and says why', async () => {
  const running = await hub({ auth: 'required' });
  const token = running.grant({ agent: 'coder-1', scopes: ['work', 'assign'] });
  const old = await enter(running.url, 'coder-1', { token });
  const over = new Promise((resolve) => old.onState((state) => state === 'closed' && resolve(state)));
  const next = await enter(running.url, 'coder-1', { token });
  const states: unknown[] = [];
  next.onState((state) => states.push(state));
  await over;
  await expect(old.send({ type: 'route', to: 'coder-1' })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('another agent has this name'),
  });
  const heard: unknown[] = [];
  next.on('route', ({ payload }) => {
    heard.push(payload);
  });
  await next.send({ type: 'route', to: 'coder-1', payload: 'to myself' });
  await expect.poll(() => heard, soon).toEqual(['to myself']);
  expect(states).toEqual([]);
});

test('R-CLIENT-57: a worker stopped for longer than its lease, on a connection that holds, wakes up and its result is refused', async () => {
  const { url } = await hub({ clocks: { silence: 400, accept: 400, backoffBase: 1 } });
  const boss = await owner(url);
  const program = fileURLToPath(new URL('../fixtures/stubborn-worker.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, url, 'coder-1'], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await expect.poll(() => said, soon).toContain('ready');
  await boss.assign('t1');
  await expect.poll(() => said, soon).toContain('begun');
  child.kill('SIGSTOP');
  const second = await enter(url, 'coder-2', { roles: ['coder'] });
  serveTasks(second, async () => good('in time'));
  expect(await boss.result()).toMatchObject({ from: 'coder-2', attempt: 2 });
  child.kill('SIGCONT');
  await expect.poll(() => said, soon).toContain('error stale_attempt');
  await expect.poll(() => boss.statuses.at(-1)?.reason, soon).toBe('stale result of attempt 1 by coder-1');
  expect(await boss.client.tasks()).toMatchObject([{ state: 'done', agent: 'coder-2', summary: 'in time' }]);
  const stale = [];
  for await (const frame of boss.client.readLog({ task_id: 't1', type: 'stale_result' })) stale.push(frame.payload);
  expect(stale).toMatchObject([{ summary: 'late from coder-1' }]);
});
