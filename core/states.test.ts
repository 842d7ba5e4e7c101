import { expect, test } from 'vitest';
import { LoopState } from '../protocol/index.ts';
import { type Happened, nextState } from './states.ts';

const plain = { choice: 'default', maxSteps: 40 } as const;
const thorough = { ...plain, plans: true, reflects: true };

test('R-LOOP-2: the guarded states are passed over unless the policy asks for them', () => {
  expect(nextState('parsing_goal', 'goal_read', plain)).toBe('executing');
  expect(nextState('parsing_goal', 'goal_read', thorough)).toBe('planning');
  expect(nextState('observing', 'calls_repeated', plain)).toBe('executing');
  expect(nextState('observing', 'calls_repeated', thorough)).toBe('reflecting');
});

test('R-LOOP-24: anything may be stopped, and stopping leads to one state', () => {
  for (const state of LoopState.options) expect(nextState(state, 'stopped', thorough)).toBe('error');
});

test('R-LOOP-24: what is not in the table throws', () => {
  expect(() => nextState('done', 'started', plain)).toThrow('"started" cannot happen in the state done');
  expect(() => nextState('idle', 'succeeded', plain)).toThrow();
});

test('R-LOOP-24: every state but the last two leads on, and every one can be reached', () => {
  const happenings: Happened[] = [
    ...(['started', 'goal_read', 'calls_made', 'calls_finished', 'calls_repeated'] as const),
    ...(['text_written', 'nothing_written', 'nudged', 'succeeded', 'stopped'] as const),
  ];
  const reached = new Set<LoopState>(['idle']);
  for (const from of reached) {
    for (const happened of happenings) {
      try {
        reached.add(nextState(from, happened, thorough));
      } catch {
        // not in the table
      }
    }
  }
  expect([...reached].sort()).toEqual([...LoopState.options].sort());
});
