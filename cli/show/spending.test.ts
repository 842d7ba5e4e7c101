import { expect, test } from 'vitest';
import { nothingSpent } from '../../protocol/index.ts';
import type { RunStory } from '../read/fold-run.ts';
import { spendingLines } from './spending.ts';

test('R-LLM-65: the report counts, by model and format, calls that came as text and those that could not be used', () => {
  const line = { ...nothingSpent, calls: 1, model: 'big' };
  const story = {
    usage: [
      { ...line, role: 'coder', rescued: { hermes: 2 }, dropped: { hermes: 1 } },
      { ...line, role: 'reviewer', rescued: { hermes: 1, 'kimi-k2': 1 } },
      { ...line, role: 'reviewer', model: 'small' },
    ],
    budget: {},
    started: 0,
  } as Partial<RunStory> as RunStory;
  expect(spendingLines(story, 0)).toEqual([
    '',
    'big wrote 4 calls as text: 3 hermes, 1 kimi-k2',
    'big wrote 1 unusable call: 1 hermes',
    expect.stringMatching(/^cost: /),
  ]);
});
