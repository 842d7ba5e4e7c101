import { expect, test } from 'vitest';
import { createProgressGuard, REPEATS, type SeenCall } from './progress-guard.ts';

/** Plays calls, each `key=result`, through a guard; returns the repetitions after each. */
function play(list: readonly string[], more: (at: number) => Partial<SeenCall> = () => ({})): number[] {
  const guard = createProgressGuard();
  return list.map((each, at) => {
    const [key = '', result = ''] = each.split('=');
    return guard.repetitions({ tool: 'bash', key, result, silent: false, changed: false, ...more(at) });
  });
}

test('R-LOOP-14: the same call with the same result counts up, also with others in between', () => {
  expect(play(['a=1', 'a=1', 'a=1'])).toEqual([1, 2, 3]);
  expect(play(['a=1', 'b=2', 'c=3', 'a=1', 'b=2', 'c=3', 'a=1']).at(-1)).toBe(3);
});

test('R-LOOP-14: the same call in a row counts whatever comes of it, so that polling ends', () => {
  expect(play(['a=1', 'a=2', 'a=3', 'a=4'])).toEqual([1, 2, 3, 4]);
});

test('R-LOOP-14: the same call with another result later on is progress', () => {
  expect(play(['test=3 failed', 'b=x', 'test=2 failed', 'c=y', 'test=1 failed'])).toEqual([1, 1, 1, 1, 1]);
});

test('R-LOOP-14: a file that changed in between starts the count anew', () => {
  const list = ['test=red', 'edit=1', 'test=red', 'edit=2', 'test=red', 'edit=3', 'test=red'];
  expect(play(list, (at) => ({ changed: list[at]?.startsWith('edit') ?? false }))).toEqual([1, 1, 1, 1, 1, 1, 1]);
});

test('R-LOOP-14: a new shell command may have changed something; the same one again with the same result did not', () => {
  const unknown = () => ({ changed: undefined });
  const edits = ['test=red', 'sed 1=', 'test=red', 'sed 2=', 'test=red', 'sed 3=', 'test=red'];
  expect(Math.max(...play(edits, unknown))).toBe(1);
  const circle = Array.from({ length: 12 }, (_, at) => `${'abc'[at % 3]}=same`);
  const counts = play(circle, () => ({ changed: undefined, silent: true }));
  expect(counts.at(-1)).toBeGreaterThanOrEqual(REPEATS.nudge);
});

test('R-LOOP-14: writing the same file the same way over and over is no progress', () => {
  expect(play(['w=ok', 'w=ok', 'w=ok', 'w=ok'], () => ({ changed: true }))).toEqual([1, 2, 3, 4]);
});

test('R-LOOP-14: one result in a row counts whatever the arguments, unless it says nothing', () => {
  const list = ['echo #1=noop', 'echo #2=noop', 'echo #3=noop', 'echo #4=noop'];
  expect(play(list)).toEqual([1, 2, 3, 4]);
  expect(play(list, () => ({ silent: true }))).toEqual([1, 1, 1, 1]);
  expect(play(list, (at) => ({ tool: `tool-${at}` }))).toEqual([1, 1, 1, 1]);
});

test('R-LOOP-14: the same failure about the same file counts whatever was tried, until a file changes', () => {
  const failure = 'a.ts: old text not found';
  const list = ['edit 1=e1', 'read=x', 'edit 2=e2', 'read=x', 'edit 3=e3'];
  expect(play(list, (at) => (at % 2 === 0 ? { failure } : {})).at(-1)).toBe(3);
  const mended = (at: number) => (at === 1 ? { changed: true } : at % 2 === 0 ? { failure } : {});
  expect(play(list, mended).at(-1)).toBe(2);
});

test('R-LOOP-14: A-B-A-B is told after three periods and stopped in the fourth', () => {
  const list = ['a=1', 'b=1', 'a=1', 'b=1', 'a=1', 'b=1', 'a=1', 'b=1'];
  const changing = play(list, () => ({ changed: true }));
  expect(changing.slice(0, 5).every((times) => times < REPEATS.nudge)).toBe(true);
  expect(changing[5]).toBe(REPEATS.nudge);
  expect(changing[7]).toBe(REPEATS.stop);
});

test('R-LOOP-14: A-B-A-B with other results each time is progress', () => {
  const list = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? 'sleep=' : `tail=${at} lines`));
  expect(Math.max(...play(list, () => ({ changed: undefined, silent: true })))).toBeLessThan(REPEATS.block);
});

test('R-LOOP-14: a call is blocked at the fifth time, in a row or in turn with another', () => {
  const guard = createProgressGuard();
  const see = (key: string, result?: string) =>
    guard.repetitions({ tool: 't', key, ...(result && { result }), silent: false, changed: false });
  for (let times = 1; times < REPEATS.block; times += 1) {
    expect(guard.blocks('a')).toBe(false);
    see('a', 'same');
  }
  expect(guard.blocks('a')).toBe(true);
  expect(guard.blocks('b')).toBe(false);
  expect([see('a'), see('a'), see('a'), see('a')]).toEqual([5, 6, 7, 8]);

  const swinging = createProgressGuard();
  for (const key of ['a', 'b', 'a', 'b', 'a', 'b']) {
    expect(swinging.blocks(key)).toBe(false);
    swinging.repetitions({ tool: 't', key, result: 'x', silent: true, changed: true });
  }
  expect(swinging.blocks('a')).toBe(true);
  expect(swinging.blocks('c')).toBe(false);
});

test('R-LOOP-14: after a change a blocked call may run again', () => {
  const guard = createProgressGuard();
  const see = (key: string, changed: boolean) =>
    guard.repetitions({ tool: key, key, result: 'x', silent: false, changed });
  for (let times = 0; times < 4; times += 1) see('test', false);
  expect(guard.blocks('test')).toBe(true);
  see('edit', true);
  expect(guard.blocks('test')).toBe(false);
});
