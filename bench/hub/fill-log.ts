import type { Change, LogRow, Storage, TaskRecord } from '../../hub/storage.ts';

/** Those who write to each other. */
export const NAMES = Array.from({ length: 20 }, (_, index) => `agent-${index + 1}`);

/** Messages of a task, and tasks at work at the same time. */
const PER_TASK = 100;
const AT_WORK = 40;

/** Id of the task with this number. */
export function taskName(number: number): string {
  return `run-${Math.floor(number / 10)}.${number % 10}`;
}

/**
 * Writes a log as a crew leaves it, the same one each time: turns of 1 to 256 messages, most of them small, many tasks under
 * way at once, events among messages that have a mailbox. Resolves to the number of tasks.
 */
export async function fillLog(storage: Storage, messages: number): Promise<number> {
  const random = numbers(1);
  const open = Array.from({ length: AT_WORK }, (_, task) => ({ task, left: lengthOf(random), started: false }));
  let tasks = AT_WORK;
  let ts = Date.UTC(2026, 0, 1);
  for (let written = 0; written < messages; ) {
    const size = Math.min(turnSize(random), messages - written);
    const changes: Change[] = [];
    for (let count = 0; count < size; count += 1) {
      const slot = open[Math.floor(random() * AT_WORK)] as { task: number; left: number; started: boolean };
      if (!slot.started) changes.push({ kind: 'task', task: taskOf(slot.task, ts), expect: null });
      slot.started = true;
      changes.push({ kind: 'message', row: rowOf(slot.task, written + count, random) });
      slot.left -= 1;
      if (slot.left > 0) continue;
      slot.task = tasks;
      slot.left = lengthOf(random);
      slot.started = false;
      tasks += 1;
    }
    ts += size * 3;
    await storage.commit(changes, ts);
    written += size;
  }
  // Those at work at the end are shorter than they were to be.
  return tasks - AT_WORK;
}

function lengthOf(random: () => number): number {
  return Math.ceil(PER_TASK * (0.5 + random()));
}

/** Half of the turns have one message; the largest ones have 256. */
function turnSize(random: () => number): number {
  const kind = random();
  if (kind < 0.5) return 1;
  if (kind < 0.8) return 2 + Math.floor(random() * 7);
  if (kind < 0.97) return 8 + Math.floor(random() * 56);
  return 64 + Math.floor(random() * 193);
}

/** A task that is over. */
function taskOf(number: number, ts: number): TaskRecord {
  const agent = NAMES[number % NAMES.length] as string;
  const nothing = { session: null, reason: null, parent: null, assignId: null, resultId: null };
  return {
    ...nothing,
    taskId: taskName(number),
    owner: 'coordinator',
    target: agent,
    subState: 'done',
    attempt: 1,
    losses: 0,
    agent,
    priority: 0,
    maxAttempts: 3,
    silenceMs: 300_000,
    attemptMs: 1_800_000,
    deadline: null,
    summary: 'done',
    created: ts,
    updated: ts,
  };
}

function rowOf(task: number, number: number, random: () => number): LogRow {
  const from = NAMES[task % NAMES.length] as string;
  const isEvent = random() < 0.7;
  const to = isEvent ? 'hub' : (NAMES[Math.floor(random() * NAMES.length)] as string);
  const type = isEvent ? 'task.event' : 'route';
  const taskId = taskName(task);
  const id = `m-${number}`;
  // Mostly some hundred bytes, now and then some thousand.
  const text = 'x'.repeat(Math.ceil(random() < 0.95 ? random() * 500 : random() * 5_000));
  const payload = isEvent ? { event: { type: 'tool.finished', text } } : { text };
  const body = Buffer.from(JSON.stringify({ v: 1, id, type, from, to, task_id: taskId, payload, attempt: 1 }));
  return { type, from, to, box: isEvent ? null : to, taskId, id, attempt: 1, body };
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
