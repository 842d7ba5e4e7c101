import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Clock } from '../../base/time.ts';
import type { TaskRow } from '../../protocol/index.ts';
import { openLiveView } from './live-view.ts';

const task: TaskRow = {
  task_id: 'k.code',
  owner: 'coordinator',
  target: 'role:coder',
  state: 'running',
  sub_state: 'working',
  attempt: 1,
  agent: 'coder-1',
  reason: null,
  parent: null,
  created: 0,
  updated: 0,
  summary: null,
};

/** A clock that a test moves by hand. */
function handClock(): Clock & { pass(ms: number): void } {
  let now = 0;
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return {
        cancel() {
          timers = timers.filter((other) => other !== timer);
        },
      };
    },
    pass(ms) {
      for (const end = now + ms; now < end; now += 1000) {
        const due = timers.filter((timer) => timer.at <= now);
        timers = timers.filter((timer) => timer.at > now);
        for (const timer of due) timer.callback();
      }
    },
  };
}

function open(isTTY: boolean, hasColors = () => false) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100, hasColors });
  const clock = handClock();
  const view = openLiveView({ stream, clock });
  return { clock, view, text: () => String(stream.read() ?? '') };
}

test('R-CLI-13: without a terminal each change of a task is one line, told once', () => {
  const { view, text } = open(false);
  view.update([task]);
  view.update([task]);
  view.update([{ ...task, state: 'done', sub_state: 'done', summary: '改好了' }]);
  expect(text()).toBe('k.code  working  attempt 1  coder-1\nk.code  done  attempt 1  coder-1  改好了\n');
});

test('R-CLI-13: without a terminal a run never says nothing for 60 s', () => {
  const { clock, view, text } = open(false);
  view.update([task]);
  text();
  for (let minute = 1; minute <= 5; minute += 1) {
    clock.pass(60_000);
    expect(text()).toMatch(/^still working, \d+.*: coder-1 on k\.code\n/);
  }
  view.close();
  clock.pass(120_000);
  expect(text()).toBe('');
});

test('R-CLI-13: on a terminal the table is drawn again, and a line of news stays above it', () => {
  const { clock, view, text } = open(true);
  view.update([task]);
  expect(text()).toContain('TASK');
  view.say('coder-1: reads src/cart.mjs');
  expect(text()).toMatch(/coder-1: reads src\/cart\.mjs\n(.|\n)*k\.code/);
  clock.pass(5000);
  expect(text()).toContain('4s');
  view.close();
});

test('R-LLM-68: what a model thinks is dim where the terminal has colours, one line, and cannot steer the terminal', () => {
  const coloured = open(true, () => true);
  coloured.view.think('coder: first the \u001b[31mtests\u0007');
  expect(coloured.text()).toContain('\u001b[2mcoder: first the [31mtests\u001b[22m\n');
  coloured.view.close();
  const bare = open(true);
  bare.view.think('coder: first the tests');
  expect(bare.text()).toContain('coder: first the tests\n');
  bare.view.close();
});
