import { expect, test } from 'vitest';
import type { Envelope } from '../../protocol/index.ts';
import { fits } from './filter.ts';
import { foldAgents, foldTasks } from './fold.ts';
import { foldRun } from './fold-run.ts';

const key = '0123456789abcdef';
const frame = (part: Partial<Envelope> & { type: string }): Envelope => ({
  from: 'coordinator',
  to: 'hub',
  task_id: `${key}.code`,
  payload: null,
  ...part,
});
const event = (type: string, facts: Record<string, unknown> = {}, part: Partial<Envelope> = {}): Envelope =>
  frame({ type: 'task.event', task_id: key, payload: { event: { type, ...facts } }, ...part });

async function* log(...frames: Envelope[]): AsyncIterable<Envelope> {
  for (const [index, entry] of frames.entries()) yield { ts: 1000 * (index + 1), lsn: index + 1, ...entry };
}

const assign = frame({ type: 'task.assign', to: 'role:coder', payload: { goal: 'g', artifacts: [], constraints: [] } });
const accept = (attempt: number) => frame({ type: 'task.accept', from: `coder-${attempt}`, attempt });
const result = (attempt: number, status: string) =>
  frame({ type: 'task.result', from: `coder-${attempt}`, attempt, payload: { status, summary: `from ${attempt}` } });

test('R-CLI-6: a task goes from pending over running to done, and keeps its result’s summary', async () => {
  expect(await foldTasks(log(assign))).toMatchObject([{ state: 'pending', sub_state: 'queued', target: 'role:coder' }]);
  expect(await foldTasks(log(assign, accept(1)))).toMatchObject([{ state: 'running', agent: 'coder-1', attempt: 1 }]);
  expect(await foldTasks(log(assign, accept(1), result(1, 'success')))).toMatchObject([
    { state: 'done', summary: 'from 1', created: 1000, updated: 3000 },
  ]);
});

test('R-CLI-6: the result of an old attempt changes nothing', async () => {
  expect(await foldTasks(log(assign, accept(1), accept(2), result(1, 'failed')))).toMatchObject([
    { state: 'running', attempt: 2, agent: 'coder-2', summary: null },
  ]);
});

test('R-CLI-6: what the hub says of a task counts', async () => {
  const payload = { state: 'failed', sub_state: 'dead', attempt: 3, agent: null, reason: 'silence' };
  expect(await foldTasks(log(assign, frame({ type: 'task.status', from: 'hub', payload })))).toMatchObject([payload]);
});

test('R-CLI-6: who spoke, as which role, on which tasks', async () => {
  const spawned = event('agent.spawned', { name: 'coder-1', role: 'coder', pid: 1, start_time: '' });
  const agents = await foldAgents(log(spawned, assign, accept(1), frame({ type: 'task.status', from: 'hub' })));
  expect(agents).toMatchObject([
    { name: 'coordinator', roles: [], connected: 1000, last_seen: 2000, tasks: [] },
    { name: 'coder-1', roles: ['coder'], last_seen: 3000, tasks: [`${key}.code`] },
  ]);
});

test('R-CLI-6: the story of a run holds its verdict, gates, returns and use, also over a restart', async () => {
  const started = (resumed: boolean) =>
    event('run.started', { run_key: key, pid: 1, version: '1', resumed, trigger: { request: '修复' } });
  const gate = { id: 'g1', command: 'npm test', kind: 'test', sha: 'a'.repeat(40), exit: 0, ms: 5, tail: '' };
  const usage = { role: 'coder', agent: 'coder-1', attempt: 1, turn: 0, model: 'm', ok: true, ms: 1 };
  const story = await foldRun(
    log(
      started(false),
      event('usage.recorded', { ...usage, usage: { input: 10, output: 2 } }),
      event('usage.recorded', { ...usage, ok: false, usage: null }),
      started(true),
      event('gate.finished', { gate }),
      event('verdict.reached', { verdict: 'green', cause: null, message: '', next_step: '', rerun_helps: false }),
      event('run.finished', { exit: 0 }),
    ),
  );
  expect(story).toMatchObject({
    ...{ runKey: key, request: '修复', starts: 2, started: 1000, ended: 7000, exit: 0 },
    verdict: { verdict: 'green' },
    gates: [{ command: 'npm test', exit: 0 }],
    usage: [{ role: 'coder', model: 'm', calls: 1, failed: 1, input: 10, output: 2 }],
  });
  expect(await foldRun(log(assign))).toBeUndefined();
});

test('R-CLI-6: a filter by task takes what hangs below it, by type also events, by agent both directions', () => {
  expect(fits(assign, { tasks: [key] })).toBe(true);
  expect(fits(assign, { tasks: [key.slice(1)] })).toBe(false);
  const again = frame({ type: 'route', task_id: `${key}.code.r1` });
  for (const task of [`${key}.code`, 'code', '.code', 'code.r1', '.code.r1', 'r1']) {
    expect({ task, fits: fits(again, { tasks: [task] }) }).toEqual({ task, fits: true });
  }
  expect(fits(assign, { tasks: ['code.r1'] })).toBe(false);
  expect(fits(again, { tasks: ['cod'] })).toBe(false);
  expect(fits(frame({ type: 'route', task_id: `${key}2` }), { tasks: [key] })).toBe(false);
  expect(fits(event('run.finished', { exit: 0 }), { types: ['run.finished'] })).toBe(true);
  expect(fits(event('run.finished', { exit: 0 }), { types: ['task.event'] })).toBe(true);
  expect(
    fits(accept(1), { agents: ['coder-1'] }) && fits(frame({ type: 'route', to: 'coder-1' }), { agents: ['coder-1'] }),
  ).toBe(true);
});
