import type { HubClocks } from './options.ts';
import type { TaskRecord } from './storage.ts';

/** The row of a task that nobody is to work on yet; `now` is ms since epoch. */
export function freshTask(taskId: string, owner: string, clocks: HubClocks, now: number): TaskRecord {
  return {
    taskId,
    owner,
    target: '',
    subState: 'queued',
    attempt: 0,
    losses: 0,
    agent: null,
    session: null,
    reason: null,
    parent: null,
    priority: 0,
    maxAttempts: 3,
    silenceMs: clocks.silence,
    attemptMs: clocks.attempt,
    assignId: null,
    resultId: null,
    deadline: null,
    summary: null,
    created: now,
    updated: now,
  };
}
