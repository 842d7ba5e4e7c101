import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveTasks } from '../hub-client/index.ts';
import { type HubPair, startHubPair } from '../test/helpers/hub-pair.ts';
import { createDispatcher } from './dispatch.ts';

const never = new AbortController().signal;
const payload = { goal: '修复', artifacts: [], constraints: [] };
const done = { status: 'success' as const, summary: 'ok', artifacts: [], issues: [] };

let pair: HubPair;
beforeEach(async () => {
  pair = await startHubPair();
});
afterEach(() => pair.close());

test('R-RUN-14: a task goes out once and its result comes back, also to a coordinator that starts again', async () => {
  const worker = await pair.connect('coder-1', ['coder']);
  let went = 0;
  serveTasks(worker, async () => {
    went += 1;
    return done;
  });
  const first = await pair.connect('coordinator');
  const task = { id: 'run.code', to: 'role:coder', payload };
  const dispatcher = createDispatcher({ client: first, answer: async () => undefined, onStatus: () => {} });
  expect(await dispatcher.run(task, never)).toEqual({ kind: 'result', result: done });
  await first.close();

  const second = await pair.connect('coordinator');
  const again = createDispatcher({ client: second, answer: async () => undefined, onStatus: () => {} });
  expect(await again.run(task, never)).toEqual({ kind: 'result', result: done });
  expect(went).toBe(1);
});

test('R-RUN-14: nobody of the role is told as such', async () => {
  const client = await pair.connect('coordinator');
  const dispatcher = createDispatcher({ client, answer: async () => undefined, onStatus: () => {} });
  const end = await dispatcher.run({ id: 'run.code', to: 'role:coder', payload }, never);
  expect(end).toMatchObject({ kind: 'dead', reason: expect.stringContaining('no_worker') });
});

test("R-RUN-14: a worker's question gets its answer, and one that nobody can answer ends the wait", async () => {
  const worker = await pair.connect('coder-1', ['coder']);
  serveTasks(worker, async (task) => ({ ...done, summary: await task.input(task.payload.goal) }));
  const client = await pair.connect('coordinator');
  const dispatcher = createDispatcher({
    client,
    answer: async (question) => (question === '哪个分支？' ? 'main' : undefined),
    onStatus: () => {},
  });
  const known = await dispatcher.run(
    { id: 'run.a', to: 'role:coder', payload: { ...payload, goal: '哪个分支？' } },
    never,
  );
  expect(known).toMatchObject({ kind: 'result', result: { summary: 'main' } });
  const unknown = await dispatcher.run(
    { id: 'run.b', to: 'role:coder', payload: { ...payload, goal: '几号上线？' } },
    never,
  );
  expect(unknown).toEqual({ kind: 'question', question: '几号上线？' });
});

test('R-RUN-14: an aborted wait ends with the reason of the abort', async () => {
  const client = await pair.connect('coordinator');
  const dispatcher = createDispatcher({ client, answer: async () => undefined, onStatus: () => {} });
  const stop = new AbortController();
  const end = dispatcher.run({ id: 'run.code', to: 'role:coder', payload }, stop.signal);
  stop.abort(new Error('stopped by the thread'));
  await expect(end).rejects.toThrow('stopped by the thread');
});
