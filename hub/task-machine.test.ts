import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TaskSubState } from '../protocol/index.ts';
import type { TaskRecord } from './storage.ts';
import { isHeld, isOver, publicState, step, type TaskInput } from './task-machine.ts';

const queued: TaskRecord = {
  taskId: 't',
  owner: 'owner',
  target: 'role:coder',
  subState: 'queued',
  attempt: 0,
  losses: 0,
  agent: null,
  session: null,
  reason: null,
  parent: null,
  priority: 0,
  maxAttempts: 3,
  silenceMs: 1,
  attemptMs: 1,
  assignId: 'a',
  resultId: null,
  deadline: null,
  checkpoint: null,
  summary: null,
  created: 0,
  updated: 0,
};
const offer: TaskInput = { kind: 'offer', agent: 'coder-1', session: 's' };
const lose: TaskInput = { kind: 'lose', reason: 'silent' };
const done: TaskInput = { kind: 'result', status: 'success', id: 'r', summary: 'did it' };

function after(...inputs: TaskInput[]): TaskRecord {
  return inputs.reduce((task, input) => {
    const next = step(task, input);
    if (next === undefined) throw new Error(`${input.kind} cannot happen at ${task.subState}`);
    return next;
  }, queued);
}

test('R-HUB-8: a task that is offered, accepted and answered is done in attempt 1', () => {
  const task = after(offer, { kind: 'accept' }, done);
  expect(task).toMatchObject({ subState: 'done', attempt: 1, losses: 0, agent: 'coder-1', summary: 'did it' });
});

test('R-HUB-8: an offer that comes to nothing uses no attempt', () => {
  const task = after(offer, { kind: 'withdraw', reason: 'declined' }, offer);
  expect(task).toMatchObject({ subState: 'offered', attempt: 1, losses: 0 });
});

test('R-HUB-8: work that is given back is the next attempt, and not a loss', () => {
  const task = after(offer, { kind: 'accept' }, { kind: 'release', reason: 'shutdown' }, offer);
  expect(task).toMatchObject({ subState: 'offered', attempt: 2, losses: 0 });
});

test('R-HUB-10: the third loss is the end', () => {
  const attempt: TaskInput[] = [offer, { kind: 'accept' }, lose];
  expect(after(...attempt, ...attempt)).toMatchObject({ subState: 'queued', losses: 2, agent: null });
  expect(after(...attempt, ...attempt, ...attempt)).toMatchObject({ subState: 'dead', losses: 3, attempt: 3 });
});

test('R-HUB-8: a cancelled task ends as cancelled, whatever its worker says', () => {
  const cancelling = [offer, { kind: 'accept' }, { kind: 'cancel', reason: 'stop' }] as TaskInput[];
  for (const end of [done, lose, { kind: 'expire' } as TaskInput]) {
    expect(after(...cancelling, end)).toMatchObject({ subState: 'cancelled', reason: 'stop', resultId: null });
  }
});

test('R-HUB-8: whatever happens in whatever order, attempts never go back below a loss and what is over stays as it is', () => {
  const inputs: TaskInput[] = [
    offer,
    { kind: 'accept' },
    { kind: 'withdraw', reason: 'no' },
    { kind: 'ask' },
    { kind: 'answer' },
    done,
    lose,
    { kind: 'release', reason: 'no' },
    { kind: 'cancel', reason: 'no' },
    { kind: 'expire' },
    { kind: 'give_up', reason: 'no' },
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...inputs), { maxLength: 40 }), (order) => {
      let task = queued;
      for (const input of order) {
        const next = step(task, input);
        if (next === undefined) continue;
        expect(isOver(task.subState)).toBe(false);
        expect(next.losses).toBeLessThanOrEqual(next.attempt);
        expect(next.losses).toBeGreaterThanOrEqual(task.losses);
        expect(next.agent === null && isHeld(next.subState)).toBe(false);
        task = next;
      }
    }),
  );
});

test('R-HUB-8: every sub-state is one of the four public states', () => {
  const states = TaskSubState.options.map((subState) => [subState, publicState(subState)]);
  expect(Object.fromEntries(states)).toEqual({
    queued: 'pending',
    offered: 'pending',
    working: 'running',
    input_required: 'running',
    cancelling: 'running',
    done: 'done',
    failed: 'failed',
    cancelled: 'failed',
    dead: 'failed',
  });
});
