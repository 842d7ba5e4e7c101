import { expect, test } from 'vitest';
import { systemClock } from '../base/time.ts';
import type { AssistantTurn, Turn, Usage } from '../protocol/index.ts';
import { createContextWindow } from './context-window.ts';
import type { Hook } from './hook.ts';
import { createHookRunner } from './hook-runner.ts';

function windowOf(size: number, options: { overhead?: string; hooks?: Hook[] } = {}) {
  const { overhead = '', hooks = [] } = options;
  const signal = new AbortController().signal;
  const runner = createHookRunner({ hooks, record: async () => {}, signal, limitMs: 1000, clock: systemClock });
  return createContextWindow({ size, overhead, hooks: runner });
}

const user = (content: string): Turn => ({ role: 'user', content });

function round(id: string, result: string): Turn[] {
  const call = { id, name: 'read', input: {}, origin: 'native' } as const;
  const reply: AssistantTurn = { role: 'assistant', content: '', calls: [call], finish: 'tool_calls', usage: null };
  return [reply, { role: 'tool', call_id: id, name: 'read', content: result, ok: true }];
}

const usage = (input: number, output = 0): Usage => ({ input, output, cached: 0, thinking: 0 });

test('R-LOOP-18 (A14): Chinese text counts a token a character', () => {
  expect(windowOf(60_000).isFull([user('汉'.repeat(100_000))])).toBe(true);
  expect(windowOf(60_000).isFull([user('a'.repeat(100_000))])).toBe(false);
});

test('R-LOOP-18: what is sent besides the turns counts too', () => {
  const turns = [user('a'.repeat(4000))];
  expect(windowOf(1500).isFull(turns)).toBe(false);
  expect(windowOf(1500, { overhead: 'x'.repeat(4000) }).isFull(turns)).toBe(true);
});

test('R-LOOP-18: the count of the provider beats the estimate, for what it counted', () => {
  const window = windowOf(10_000);
  const turns = [user('a'.repeat(40_400))];
  expect(window.isFull(turns)).toBe(true);
  const counted: Turn[] = [...turns, ...round('1', '').slice(0, 1)];
  window.counted(counted, usage(5000, 100));
  expect(window.isFull(counted)).toBe(false);
  expect(window.isFull([...counted, user('汉'.repeat(4800))])).toBe(false);
  expect(window.isFull([...counted, user('汉'.repeat(5000))])).toBe(true);
});

test('R-LOOP-18: a provider that does not count changes nothing', () => {
  const window = windowOf(1000);
  window.counted([user('x')], null);
  window.counted([user('x')], { input: null, output: 5, cached: 0, thinking: 0 });
  expect(window.isFull([user('汉'.repeat(1001))])).toBe(true);
});

test('R-LOOP-18: below three quarters nothing is touched', async () => {
  const turns = [user('go'), ...round('1', '汉'.repeat(700))];
  expect(await windowOf(1000).makeRoom(turns)).toBe(turns);
});

test('R-LOOP-18: old results go, oldest first, until half is free; the last three rounds and the rest stay', async () => {
  const turns = [
    user('go'),
    ...Array.from({ length: 8 }, (_, n) => round(`${n}`, `${n}`.concat('汉'.repeat(99)))).flat(),
  ];
  const pruned = await windowOf(1000).makeRoom(turns);
  expect(pruned).toHaveLength(turns.length);
  const kept = pruned.map((turn, at) => turn === turns[at]);
  const results = kept.filter((_, at) => turns[at]?.role === 'tool');
  expect(results.at(0)).toBe(false);
  expect(results.slice(-3)).toEqual([true, true, true]);
  expect(results.indexOf(true)).toBe(results.lastIndexOf(false) + 1);
  expect(kept.filter((_, at) => turns[at]?.role !== 'tool')).not.toContain(false);
  expect(pruned[2]).toMatchObject({ role: 'tool', call_id: '0', ok: true });
  expect(pruned[2]?.content).toContain('read was left out to make room');
});

test('R-LOOP-18: what was left out counts no more, whether the provider had counted it or not', async () => {
  const turns = [user('go'), ...Array.from({ length: 8 }, (_, n) => round(`${n}`, '汉'.repeat(500))).flat()];
  for (const counted of [true, false]) {
    const window = windowOf(4000);
    if (counted) window.counted(turns, usage(4100));
    expect(window.isFull(turns)).toBe(true);
    const pruned = await window.makeRoom(turns);
    expect(window.isFull(pruned)).toBe(false);
    expect(await window.makeRoom(pruned)).toBe(pruned);
  }
});

test('R-LOOP-18: results shorter than the note stay', async () => {
  const turns = [user('汉'.repeat(900)), ...Array.from({ length: 5 }, (_, n) => round(`${n}`, 'short')).flat()];
  const pruned = await windowOf(1000).makeRoom(turns);
  expect(pruned).toEqual(turns);
});

test('R-LOOP-18: a hook may refuse, and may have the last word on what is kept', async () => {
  const turns = [user('go'), ...Array.from({ length: 8 }, (_, n) => round(`${n}`, '汉'.repeat(100))).flat()];
  const keep = { name: 'keep', at: { 'compact.before': () => ({ refuse: 'not now' }) } };
  expect(await windowOf(1000, { hooks: [keep] }).makeRoom(turns)).toBe(turns);
  const own = { name: 'own', at: { 'compact.after': () => ({ replace: { turns: [user('all in short')] } }) } };
  expect(await windowOf(1000, { hooks: [own] }).makeRoom(turns)).toEqual([user('all in short')]);
});
