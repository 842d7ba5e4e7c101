import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { type ScriptedConnection, type ScriptedHub, startScriptedHub } from '../test/helpers/scripted-hub.ts';
import { type AssignedTask, connectHub, type HubClient, type HubClientOptions, serveTasks } from './index.ts';
import type { ServeOptions } from './serve-tasks.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  // the hub first: a client waits a moment for a hub that owes it an answer
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Bench {
  readonly server: ScriptedHub;
  readonly line: ScriptedConnection;
  readonly client: HubClient;
  readonly stop: () => Promise<void>;
}

async function bench(
  work: Parameters<typeof serveTasks>[1],
  options: ServeOptions & Partial<HubClientOptions> = {},
): Promise<Bench> {
  const server = await startScriptedHub();
  cleanups.push(() => server.close());
  const starting = connectHub({
    url: server.url,
    name: 'worker',
    roles: ['coder'],
    log: silentLog(),
    reconnect: { baseMs: 5, capMs: 20 },
    ...options,
  });
  const line = await server.welcome();
  const client = await starting;
  cleanups.push(() => client.close());
  return { server, line, client, stop: serveTasks(client, work, options) };
}

const assign = (seq: number, taskId = 't1', attempt = 1) => ({
  type: 'task.assign',
  from: 'boss',
  task_id: taskId,
  attempt,
  seq,
  prev: 0,
  payload: { goal: 'do it', lease_ms: 300_000 },
});
const good = { status: 'success' as const, summary: 'did it' };

/** Work that ends when it is aborted, with the reason, as tools do. */
const untilAborted = (task: AssignedTask): Promise<never> =>
  new Promise((_resolve, reject) => {
    task.signal.addEventListener('abort', () => reject(task.signal.reason), { once: true });
  });

async function takeOffer(line: ScriptedConnection): Promise<void> {
  await line.next('task.accept');
  line.accept();
}

test('R-CLIENT-20: a task is accepted before it is begun, acknowledged, and its result sent with its attempt', async () => {
  const begun: number[] = [];
  const { line } = await bench(async (task) => {
    begun.push(line.frames.filter(({ type }) => type === 'task.accept').length);
    expect(task).toMatchObject({ id: 't1', attempt: 2, payload: { goal: 'do it', artifacts: [], constraints: [] } });
    return good;
  });
  line.send(assign(1, 't1', 2));
  const accept = await line.next('task.accept');
  expect(accept).toMatchObject({ to: 'hub', task_id: 't1', attempt: 2 });
  expect(begun).toEqual([]);
  line.accept();
  const result = await line.next('task.result');
  expect(result).toMatchObject({ task_id: 't1', attempt: 2, payload: { ...good, artifacts: [], issues: [] } });
  line.accept();
  expect((await line.next('ack')).payload).toEqual({ seq: 1 });
  expect(begun).toEqual([1]);
});

test('R-CLIENT-20: an offer that the hub has withdrawn is not begun', async () => {
  let begun = 0;
  const { line } = await bench(async () => {
    begun += 1;
    return good;
  });
  line.send(assign(1));
  line.refuse(await line.next('task.accept'), 'stale_attempt');
  await line.next('ack');
  line.send(assign(2, 't2'));
  await takeOffer(line);
  await line.next('task.result');
  expect(begun).toBe(1);
});

test('R-CLIENT-21: more than max_concurrency is declined, and a freed place is used again', async () => {
  const finish: (() => void)[] = [];
  const { line } = await bench(() => new Promise((resolve) => finish.push(() => resolve(good))), { maxConcurrency: 2 });
  expect(line.hello.payload.max_concurrency).toBe(2);
  line.send(assign(1, 'a'));
  line.send(assign(2, 'b'));
  line.send(assign(3, 'c'));
  expect(await line.next('task.decline')).toMatchObject({ task_id: 'c', payload: { reason: 'busy' } });
  line.accept();
  await expect.poll(() => finish.length).toBe(2);
  finish[0]?.();
  await line.next('task.result');
  line.send(assign(4, 'c'));
  line.accept();
  await line.next('task.accept');
  await line.next('task.accept');
  expect(await line.next('task.accept')).toMatchObject({ task_id: 'c' });
});

test('R-CLIENT-22: signs of life go out at most once a period and only when something moved', async () => {
  let task: AssignedTask | undefined;
  const { line } = await bench(
    (assigned) => {
      task = assigned;
      return untilAborted(assigned);
    },
    { progressMs: 60 },
  );
  line.send(assign(1));
  await takeOffer(line);
  await expect.poll(() => task).toBeDefined();
  const signs = () => line.frames.filter(({ type }) => type === 'task.progress');
  for (let delta = 0; delta < 100; delta += 1) task?.alive();
  await line.next('task.progress');
  await line.next('task.progress'); // the second one a period later, for the 99 others
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(signs()).toHaveLength(2);
  task?.alive(1_900_000_000_000);
  task?.alive(1_900_000_000_001);
  await expect
    .poll(() => signs().map(({ payload }) => payload))
    .toEqual([{}, {}, { busy_until: 1_900_000_000_000 }, { busy_until: 1_900_000_000_001 }]);
  expect(signs().every(({ attempt, task_id }) => attempt === 1 && task_id === 't1')).toBe(true);
});

test('R-CLIENT-22: notes reach the hub soon, the last one of a burst', async () => {
  const { line } = await bench(async (task) => {
    task.note('reading');
    task.note('writing');
    task.note('testing');
    return untilAborted(task);
  });
  line.send(assign(1));
  await takeOffer(line);
  expect((await line.next('task.progress')).payload).toEqual({ note: 'reading' });
  expect((await line.next('task.progress')).payload).toEqual({ note: 'testing' });
});

test('R-CLIENT-23: a cancel aborts the work, and the hub hears a result at once', async () => {
  const { line } = await bench(untilAborted);
  line.send(assign(1));
  await takeOffer(line);
  line.send({
    type: 'task.cancel',
    from: 'boss',
    task_id: 't1',
    seq: 2,
    prev: 1,
    payload: { reason: 'changed my mind' },
  });
  expect((await line.next('task.result')).payload).toMatchObject({
    status: 'failed',
    summary: 'Cancelled: changed my mind',
  });
});

test('R-CLIENT-24: an attempt that the hub itself cancels is lost; a cancel of another attempt is none', async () => {
  const why: unknown[] = [];
  const { line } = await bench((task) =>
    untilAborted(task).catch((error) => {
      why.push(error.details.why);
      throw error;
    }),
  );
  line.send(assign(1, 't1', 2));
  await takeOffer(line);
  await expect.poll(() => line.frames.some(({ type }) => type === 'ack')).toBe(true);
  const cancel = { type: 'task.cancel', from: 'hub', task_id: 't1', payload: { reason: 'silence' } };
  line.send({ ...cancel, attempt: 1, seq: 2, prev: 1 });
  await expect.poll(() => line.frames.filter(({ type }) => type === 'ack').at(-1)?.payload).toEqual({ seq: 2 });
  expect(why).toEqual([]);
  line.send({ ...cancel, attempt: 2, seq: 3, prev: 2 });
  await expect.poll(() => why).toEqual(['lost']);
  await expect.poll(() => line.frames.filter(({ type }) => type === 'ack').at(-1)?.payload).toEqual({ seq: 3 });
  expect(line.frames.some(({ type }) => type === 'task.result')).toBe(false);
});

test('R-CLIENT-24: an attempt that the hub has given away is aborted and its result kept back', async () => {
  const why: unknown[] = [];
  const { line, client } = await bench(async (task) => {
    await task.event({ type: 'thing.done' }).catch(() => {});
    why.push(task.signal.aborted, task.signal.reason.details);
    return good;
  });
  line.send(assign(1));
  await takeOffer(line);
  line.refuse(await line.next('task.event'), 'stale_attempt');
  await expect.poll(() => why).toEqual([true, { why: 'lost' }]);
  await client.close();
  expect(line.frames.some(({ type }) => type === 'task.result')).toBe(false);
});

test('R-CLIENT-24: a newer attempt of the same task begins only after the old work has ended', async () => {
  const story: string[] = [];
  const { line } = await bench(async (task) => {
    story.push(`${task.attempt} begins`);
    if (task.attempt === 1) {
      await untilAborted(task).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    story.push(`${task.attempt} ends`);
    return good;
  });
  line.send(assign(1));
  await takeOffer(line);
  await expect.poll(() => story).toEqual(['1 begins']);
  line.send(assign(2));
  line.send(assign(3, 't1', 2));
  await takeOffer(line);
  expect(await line.next('task.result')).toMatchObject({ attempt: 2 });
  expect(story).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
});

test('R-CLIENT-25: work survives a short loss of the hub and is given up after the grace', async () => {
  const reasons: string[] = [];
  const { line, server, client } = await bench(
    (task) =>
      untilAborted(task).catch((error: Error) => {
        reasons.push(error.message);
        throw error;
      }),
    { graceMs: 80, reconnect: { baseMs: 1, capMs: 1 } },
  );
  line.send(assign(1));
  await takeOffer(line);
  line.terminate();
  const again = await server.welcome({ resume: { state: 'recovered' } });
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(reasons).toEqual([]);
  const lost = new Promise((resolve) => client.onState(resolve));
  again.terminate();
  await lost;
  await server.connection(); // never welcomed
  await expect.poll(() => reasons).toEqual(['The hub has been gone for too long.']);
});

test('R-CLIENT-25: after a reconnect the hub hears again how long a call may be quiet', async () => {
  const { line, server } = await bench((task) => {
    task.alive(4_000_000_000_000);
    return untilAborted(task);
  });
  line.send(assign(1));
  await takeOffer(line);
  await line.next('task.progress');
  line.terminate();
  const again = await server.welcome({ resume: { state: 'recovered' } });
  expect((await again.next('task.progress')).payload).toEqual({ busy_until: 4_000_000_000_000 });
});

test('R-CLIENT-25: a hub that no longer knows the session has taken its tasks away', async () => {
  const reasons: string[] = [];
  const { line, server } = await bench((task) =>
    untilAborted(task).catch((error: Error) => {
      reasons.push(error.message);
      throw error;
    }),
  );
  line.send(assign(1));
  await takeOffer(line);
  line.terminate();
  await server.welcome({ session: 's2' });
  await expect.poll(() => reasons).toEqual(['The hub no longer knows this session.']);
});

test('R-CLIENT-26: a result is sent again after a loss and after a refusal that may pass, with the same content', async () => {
  const { line, server } = await bench(async () => good);
  line.send(assign(1));
  await takeOffer(line);
  line.refuse(await line.next('task.result'), 'mailbox_full', { retryable: true, retry_after_ms: 1 });
  const second = await line.next('task.result');
  line.terminate();
  const again = await server.welcome({ resume: { state: 'recovered' } });
  const third = await again.next('task.result');
  expect(third).toEqual(second);
  again.accept();
});

test('R-CLIENT-26: work that throws, a result of a wrong shape and one too large become a failed result', async () => {
  const outcomes: Record<string, () => Promise<never>> = {
    throws: async () => {
      throw new Error('no compiler here');
    },
    shape: async () => ({ status: 'maybe', summary: 'x' }) as never,
    large: async () => {
      const artifacts = Array.from({ length: 20 }, () => ({ kind: 'text', title: 't', text: 'x'.repeat(60_000) }));
      return { ...good, artifacts } as never;
    },
  };
  const { line } = await bench(async (task) => outcomes[task.id]?.() as never, { maxConcurrency: 3 });
  const summaries: Record<string, string> = {};
  for (const [index, id] of Object.keys(outcomes).entries()) {
    line.send(assign(index + 1, id));
    await takeOffer(line);
    const { payload } = await line.next('task.result');
    line.accept();
    expect(payload.status).toBe('failed');
    summaries[id] = payload.summary;
  }
  expect(summaries).toEqual({
    throws: 'no compiler here',
    shape: expect.stringContaining('wrong shape'),
    large: expect.stringContaining('by path or ref'),
  });
});

test('R-CLIENT-27: stopping aborts the work, waits for it, gives the task back and declines further offers', async () => {
  let end: () => void = () => undefined;
  const mayEnd = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { line, stop } = await bench(async (task) => {
    await untilAborted(task).catch(() => {});
    await mayEnd;
    return good;
  });
  line.send(assign(1));
  await takeOffer(line);
  await expect.poll(() => line.frames.some(({ type }) => type === 'ack')).toBe(true);
  const stopped = stop();
  line.send(assign(2, 't2'));
  expect(await line.next('task.decline')).toMatchObject({ task_id: 't2', payload: { reason: 'stopping' } });
  expect(line.frames.some(({ type }) => type === 'task.release')).toBe(false);
  end();
  expect(await line.next('task.release')).toMatchObject({ task_id: 't1', attempt: 1 });
  line.accept();
  await stopped;
  expect(line.frames.some(({ type }) => type === 'task.result')).toBe(false);
});

test('R-CLIENT-27: stopping while an offer is being accepted gives that task back, too', async () => {
  let begun = 0;
  const { line, stop } = await bench(async () => {
    begun += 1;
    return good;
  });
  line.send(assign(1));
  await line.next('task.accept');
  const stopped = stop();
  line.accept();
  expect(await line.next('task.release')).toMatchObject({ task_id: 't1' });
  line.accept();
  await stopped;
  expect(begun).toBe(0);
});

test('R-CLIENT-24: of several newer attempts, the last is worked on', async () => {
  const story: string[] = [];
  const { line } = await bench(async (task) => {
    story.push(`${task.attempt}`);
    if (task.attempt === 1) await untilAborted(task).catch(() => {});
    return good;
  });
  line.send(assign(1));
  await takeOffer(line);
  await expect.poll(() => story).toEqual(['1']);
  line.send(assign(2, 't1', 2));
  line.send(assign(3, 't1', 3));
  line.refuse(await line.next('task.accept'), 'stale_attempt');
  expect(await line.next('task.accept')).toMatchObject({ attempt: 3 });
  line.accept();
  expect(await line.next('task.result')).toMatchObject({ attempt: 3 });
  expect(story).toEqual(['1', '3']);
});

test('R-CLIENT-27: stopping does not wait for ever for work that ignores its signal', async () => {
  const { line, stop } = await bench(() => new Promise(() => {}), { stopMs: 20 });
  line.send(assign(1));
  await takeOffer(line);
  await expect.poll(() => line.frames.some(({ type }) => type === 'ack')).toBe(true);
  await stop();
});

test('R-CLIENT-28: the transcript is the logged turns of all attempts, without what an outdated attempt added', async () => {
  const turns: unknown[] = [];
  const { line } = await bench(async (task) => {
    turns.push(...(await task.transcript()));
    return good;
  });
  line.send(assign(1, 't1', 2));
  await takeOffer(line);
  const row = (attempt: number, event: unknown, lsn: number) => ({
    type: 'task.event',
    from: 'worker',
    to: 'hub',
    task_id: 't1',
    attempt,
    lsn,
    payload: { event },
  });
  const said = (turn: number, content: string) => ({ type: 'turn.added', turn, content: { role: 'user', content } });
  const first = await line.next('log');
  expect(first.payload).toMatchObject({ task_id: 't1', type: 'task.event', after_lsn: 0 });
  const frames = [row(1, said(0, 'zero'), 1), row(1, { type: 'tool.hummed' }, 2), row(1, said(1, 'one'), 3)];
  line.send({ type: 'log', ref: first.id as string, payload: { frames, next: 3 } });
  const second = await line.next('log');
  expect(second.payload.after_lsn).toBe(3);
  const rest = [row(2, said(1, 'one again'), 4), row(1, said(2, 'late'), 5), row(2, said(2, 'two'), 6)];
  line.send({ type: 'log', ref: second.id as string, payload: { frames: rest } });
  await line.next('task.result');
  expect(turns).toEqual(['zero', 'one again', 'two'].map((content) => ({ role: 'user', content })));
});

test('R-CLIENT-29: a question to the owner waits for its answer, and ends with the task', async () => {
  const { line } = await bench(async (task) => ({ ...good, summary: await task.input('which branch?') }), {
    maxConcurrency: 2,
  });
  line.send(assign(1));
  await takeOffer(line);
  const question = await line.next('task.input');
  expect(question).toMatchObject({ task_id: 't1', attempt: 1, payload: { question: 'which branch?' } });
  line.accept();
  line.send({
    type: 'task.answer',
    from: 'boss',
    task_id: 't1',
    ref: question.id as string,
    seq: 2,
    prev: 1,
    payload: { text: 'main' },
  });
  expect((await line.next('task.result')).payload.summary).toBe('main');
  line.accept();
  line.send(assign(3, 't2'));
  await takeOffer(line);
  await line.next('task.input');
  line.send({ type: 'task.cancel', from: 'boss', task_id: 't2', seq: 4, prev: 3, payload: { reason: 'no need' } });
  expect((await line.next('task.result')).payload.summary).toBe('Cancelled: no need');
});

test('R-CLIENT-29: a question that an owner has no room for is asked again until there is some, or the task is cancelled', async () => {
  const { line } = await bench(async (task) => ({ ...good, summary: await task.input('which branch?') }));
  const ask = async (seq: number, taskId: string) => {
    line.send(assign(seq, taskId));
    await takeOffer(line);
    const first = await line.next('task.input');
    line.refuse(first, 'mailbox_full', { retryable: true });
    return first;
  };
  const first = await ask(1, 't1');
  const again = await line.next('task.input');
  expect(again).toEqual(first);
  line.accept();
  const answer = { from: 'boss', task_id: 't1', ref: again.id as string, payload: { text: 'main' } };
  line.send({ type: 'task.answer', seq: 2, prev: 1, ...answer });
  expect((await line.next('task.result')).payload.summary).toBe('main');
  line.accept();
  await ask(3, 't2');
  line.send({ type: 'task.cancel', from: 'boss', task_id: 't2', seq: 4, prev: 3, payload: { reason: 'no need' } });
  expect((await line.next('task.result')).payload.summary).toBe('Cancelled: no need');
});

test('R-CLIENT-43: a task that the hub takes for ours and nobody here works on is given back at once', async () => {
  const server = await startScriptedHub();
  cleanups.push(() => server.close());
  const starting = connectHub({
    url: server.url,
    name: 'worker',
    log: silentLog(),
    reconnect: { baseMs: 5, capMs: 20 },
  });
  const line = await server.welcome({ resume: { state: 'recovered' }, tasks: [{ task_id: 'earlier', attempt: 3 }] });
  const client = await starting;
  cleanups.push(() => client.close());
  serveTasks(client, untilAborted);
  expect(await line.next('task.release')).toMatchObject({ to: 'hub', task_id: 'earlier', attempt: 3 });
  line.accept();
  line.send(assign(1));
  await takeOffer(line);
  await line.next('ack');
  line.terminate();
  const tasks = [
    { task_id: 't1', attempt: 1 },
    { task_id: 't2', attempt: 1 },
  ];
  const again = await server.welcome({ resume: { state: 'recovered' }, tasks });
  expect(await again.next('task.release')).toMatchObject({ task_id: 't2', attempt: 1 });
  expect(again.frames.filter(({ type, task_id }) => type === 'task.release' && task_id === 't1')).toEqual([]);
});

test('R-CLIENT-43: work that was given up while the hub was away is given back when it has ended', async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let isCut = false;
  const { server, line } = await bench(
    async (task) => {
      task.signal.addEventListener('abort', () => {
        isCut = true;
      });
      await ended;
      return good;
    },
    { graceMs: 1 },
  );
  line.send(assign(1));
  await takeOffer(line);
  await line.next('ack');
  line.terminate();
  const unwelcome = await server.connection();
  await expect.poll(() => isCut).toBe(true);
  const coming = server.welcome({ resume: { state: 'recovered' }, tasks: [{ task_id: 't1', attempt: 1 }] });
  unwelcome.terminate();
  const again = await coming;
  expect(again.frames.some(({ type }) => type === 'task.release')).toBe(false);
  end();
  expect(await again.next('task.release')).toMatchObject({ task_id: 't1', attempt: 1 });
});
