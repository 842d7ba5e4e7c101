import { expect, test } from 'vitest';
import { checkAllowed } from './allowed.ts';
import type { Trigger } from './trigger.ts';

const thread = { slug: 'team/shop', kind: 'issue', number: '1', occasion: '7' } as const;
const trigger: Trigger = {
  request: 'fix it',
  language: 'en',
  thread,
  actor: 'alice',
  role: 'Agent',
  workMode: true,
  workspace: '/workspace',
  baseBranch: 'main',
  isRetry: false,
};

test('R-RUN-15: without a list whoever the platform lets trigger may, and with one only who is on it', () => {
  expect(() => checkAllowed(trigger, {})).not.toThrow();
  expect(() => checkAllowed(trigger, { users: ['alice'] })).not.toThrow();
  expect(() => checkAllowed(trigger, { users: ['bob'] })).toThrow('alice is not in allow.users');
  expect(() => checkAllowed(trigger, { users: [] })).toThrow('alice is not in allow.users');
});

test('R-RUN-15: a limit that cannot be checked yet lets nobody in', () => {
  expect(() => checkAllowed(trigger, { access: 'Developer' })).toThrow('not supported yet');
});

test('R-RUN-15: a person at the machine is always allowed', () => {
  const { thread: _, ...local } = trigger;
  expect(() => checkAllowed(local, { users: ['bob'] })).not.toThrow();
});
