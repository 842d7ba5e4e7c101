import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../base/time.ts';
import type { LoopEvent } from '../protocol/index.ts';
import type { Hook } from './hook.ts';
import { createHookRunner } from './hook-runner.ts';

function runner(hooks: readonly Hook[], options: { limitMs?: number; signal?: AbortSignal } = {}) {
  const events: LoopEvent[] = [];
  const { limitMs = 1000, signal = new AbortController().signal } = options;
  const record = async (event: LoopEvent) => void events.push(event);
  return { events, ask: createHookRunner({ hooks, record, signal, limitMs, clock: systemClock }).ask };
}

const result = { status: 'success', summary: 'a', artifacts: [], issues: [] } as const;
const submitted = { result: { ...result, artifacts: [], issues: [] } };
const call = { id: '1', name: 'bash', input: {}, origin: 'native' } as const;

test('R-LOOP-16: without a hook a value comes back as it was', async () => {
  const seen = { step: 1 };
  expect(await runner([]).ask('cycle.started', seen)).toEqual({ seen });
  expect(await runner([{ name: 'elsewhere', at: {} }]).ask('cycle.started', seen)).toEqual({ seen });
});

test('R-LOOP-15: each hook sees what the one before made of it, in order', async () => {
  const add = (name: string): Hook => ({
    name,
    at: {
      'tool.after': ({ call, outcome }) => ({ replace: { call, outcome: { ...outcome, text: outcome.text + name } } }),
    },
  });
  const { ask } = runner([add('1'), add('2')]);
  const { seen } = await ask('tool.after', { call, outcome: { text: '0', ok: true } });
  expect(seen.outcome.text).toBe('012');
});

test('R-LOOP-15: the first refusal ends the asking, and names who refuses', async () => {
  const asked: string[] = [];
  const hook = (name: string, refuse?: string): Hook => ({
    name,
    at: {
      'tool.before': () => {
        asked.push(name);
        return refuse === undefined ? undefined : { refuse };
      },
    },
  });
  const { ask, events } = runner([hook('a'), hook('b', 'too risky'), hook('c')]);
  expect((await ask('tool.before', { call })).refusal).toBe('b refuses: too risky');
  expect(asked).toEqual(['a', 'b']);
  expect(events).toEqual([{ type: 'hook.refused', hook: 'b', point: 'tool.before', reason: 'too risky' }]);
});

test('R-LOOP-15: each submit hook may refuse twice; at other points there is no such limit', async () => {
  const never: Hook = {
    name: 'never',
    at: { 'submit.before': () => ({ refuse: 'no' }), 'tool.before': () => ({ refuse: 'no' }) },
  };
  const { ask } = runner([never]);
  const refusals = [];
  for (let times = 0; times < 3; times += 1) refusals.push((await ask('submit.before', submitted)).refusal);
  expect(refusals).toEqual(['never refuses: no', 'never refuses: no', undefined]);
  expect((await ask('tool.before', { call })).refusal).toBeDefined();
});

test('R-LOOP-16: a hook that throws is reported, and the next one is asked', async () => {
  const bad: Hook = {
    name: 'bad',
    at: {
      'cycle.ended': () => {
        throw new Error('a fault in the hook');
      },
    },
  };
  const rejecting: Hook = { name: 'worse', at: { 'cycle.ended': () => Promise.reject('no error even') } };
  let asked = false;
  const good: Hook = {
    name: 'good',
    at: {
      'cycle.ended': () => {
        asked = true;
      },
    },
  };
  const { ask, events } = runner([bad, rejecting, good]);
  expect(await ask('cycle.ended', { step: 3 })).toEqual({ seen: { step: 3 } });
  expect(asked).toBe(true);
  expect(events).toEqual([
    { type: 'hook.failed', hook: 'bad', point: 'cycle.ended', message: 'a fault in the hook' },
    { type: 'hook.failed', hook: 'worse', point: 'cycle.ended', message: 'no error even' },
  ]);
});

test('R-LOOP-16: a hook that hangs is given up, and told so', async () => {
  let told = false;
  const hanging: Hook = {
    name: 'hanging',
    at: {
      'submit.before': (_, signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            told = true;
          });
        }),
    },
  };
  const { ask, events } = runner([hanging], { limitMs: 10 });
  expect(await ask('submit.before', submitted)).toEqual({ seen: submitted });
  expect(told).toBe(true);
  expect(events).toMatchObject([{ type: 'hook.failed', message: 'no answer within 10 ms' }]);
});

test('R-LOOP-12: cancel gets through a hook that hangs', async () => {
  const abort = new AbortController();
  const { ask, events } = runner(
    [{ name: 'hanging', at: { 'cycle.started': () => delay(60_000, undefined, { ref: false }) } }],
    {
      signal: abort.signal,
    },
  );
  const asking = ask('cycle.started', { step: 1 });
  abort.abort(new Error('stop now'));
  await expect(asking).rejects.toThrow('stop now');
  expect(events).toEqual([]);
});
