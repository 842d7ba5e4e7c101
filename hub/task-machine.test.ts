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

test('R-HUB-66: from every sub-state each input leads where the table of the protocol says, or nowhere', () => {
  const held = { agent: 'coder-1', session: 's', attempt: 2, losses: 1 };
  const at: Readonly<Record<TaskSubState, TaskRecord>> = {
    queued: { ...queued, attempt: 1, losses: 1 },
    offered: { ...queued, ...held, subState: 'offered' },
    working: { ...queued, ...held, subState: 'working' },
    input_required: { ...queued, ...held, subState: 'input_required' },
    cancelling: { ...queued, ...held, subState: 'cancelling', reason: 'stop' },
    done: { ...queued, ...held, subState: 'done' },
    failed: { ...queued, ...held, subState: 'failed' },
    cancelled: { ...queued, ...held, subState: 'cancelled' },
    dead: { ...queued, ...held, subState: 'dead' },
  };
  const inputs: readonly TaskInput[] = [
    offer,
    { kind: 'accept' },
    { kind: 'withdraw', reason: 'x' },
    { kind: 'ask' },
    { kind: 'answer' },
    done,
    { ...done, status: 'failed' } as TaskInput,
    lose,
    { kind: 'release', reason: 'x' },
    { kind: 'cancel', reason: 'x' },
    { kind: 'expire' },
    { kind: 'give_up', reason: 'x' },
  ];
  const name = (input: TaskInput) => (input.kind === 'result' ? `result ${input.status}` : input.kind);
  const moves = Object.entries(at).flatMap(([from, task]) =>
    inputs.flatMap((input) => {
      const next = step(task, input);
      return next === undefined ? [] : [`${from} + ${name(input)} = ${next.subState} ${next.attempt}`];
    }),
  );
  expect(moves).toEqual([
    'queued + offer = offered 2',
    'queued + cancel = cancelled 1',
    'queued + give_up = failed 1',
    'offered + accept = working 2',
    'offered + withdraw = queued 1',
    'offered + cancel = cancelled 2',
    'offered + give_up = failed 1',
    'working + ask = input_required 2',
    'working + result success = done 2',
    'working + result failed = failed 2',
    'working + lose = queued 2',
    'working + release = queued 2',
    'working + cancel = cancelling 2',
    'working + give_up = failed 2',
    'input_required + answer = working 2',
    'input_required + result success = done 2',
    'input_required + result failed = failed 2',
    'input_required + lose = queued 2',
    'input_required + release = queued 2',
    'input_required + cancel = cancelling 2',
    'cancelling + result success = cancelled 2',
    'cancelling + result failed = cancelled 2',
    'cancelling + lose = cancelled 2',
    'cancelling + release = cancelled 2',
    'cancelling + expire = cancelled 2',
  ]);
});
