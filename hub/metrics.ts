import { CloseCode } from '../protocol/index.ts';
import { Counts, Histogram } from './counters.ts';
import type { TaskRecord } from './storage.ts';
import { isOver, type TaskInput } from './task-machine.ts';

const fast = [0.000_05, 0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const slow = [0.01, 0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400];

/** Where the type stands in a frame that `hubFrame` made. */
const TYPE_AT = '{"type":"'.length;

/** Roles that have a line of their own. */
const ROLES = 64;

/** Close codes that have a line of their own: a peer may send any. */
const codes: ReadonlySet<number> = new Set([1000, 1001, 1005, 1006, 1007, 1009, ...Object.values(CloseCode)]);

/** How a move of the task table ends an attempt. */
const outcomes: Readonly<Partial<Record<TaskInput['kind'], string>>> = {
  withdraw: 'void',
  lose: 'lost',
  release: 'released',
  expire: 'cancelled',
};

/**
 * What the hub counts while it works; seconds and bytes. Parts that count get this object and do no more than add to a number, and
 * `http/metrics.ts` tells of them when it is asked.
 */
export class Metrics {
  /** Frames read, by type; `unreadable` are those that are none. */
  readonly framesIn = new Counts();
  /** Frames handed to a socket, by type. */
  readonly framesOut = new Counts();
  /** `error` frames said, by code. */
  readonly errors = new Counts();
  /** Upgrades refused, by HTTP status. */
  readonly refusals = new Counts();
  /** Connections that ended, by close code. */
  readonly disconnects = new Counts();
  /** From the first frame of a turn to when the last one of its messages was handed to a socket. */
  readonly route = new Histogram(fast);
  readonly commit = new Histogram(fast);
  /** Changes in one commit. */
  readonly commitBatch = new Histogram(sizes);
  redelivered = 0;
  /** Answers to hello, by what became of the session. */
  readonly resumes = new Counts();
  /** From when a task was queued to when it was offered. */
  readonly taskWait = new Histogram(slow);
  /** How long attempts took, by role; empty for tasks that were for one name. */
  readonly taskRun = new Map<string, Histogram>();
  /** Offers and attempts that ended, by how. */
  readonly attempts = new Counts();
  /** Tasks that ended, by sub-state. */
  readonly tasksEnded = new Counts();
  staleResults = 0;
  leasesExpired = 0;
  readonly pingRoundTrip = new Histogram(fast);
  /** How late the event loop was. */
  readonly loopLag = new Histogram(fast);
  /** When the attempts at work were taken, by task. */
  readonly #takenAt = new Map<string, number>();

  /** A frame is said: one that is handed on by its type, one of the hub's own by how it begins. */
  said(text: string, type = text.slice(TYPE_AT, text.indexOf('"', TYPE_AT))): void {
    this.framesOut.add(type);
    if (type === 'error') this.errors.add(/"code":"(\w+)"/.exec(text)?.[1] ?? 'internal');
  }

  disconnected(code: number): void {
    this.disconnects.add(codes.has(code) ? String(code) : 'other');
  }

  /** A task went from `before` to `next` at `now`, ms since epoch. */
  moved(before: TaskRecord, next: TaskRecord, input: TaskInput, now: number): void {
    const { taskId } = next;
    if (input.kind === 'offer') this.taskWait.observe((now - before.updated) / 1000);
    if (input.kind === 'accept') this.#takenAt.set(taskId, now);
    const outcome = input.kind === 'result' ? input.status : outcomes[input.kind];
    if (outcome !== undefined) {
      this.attempts.add(before.subState === 'cancelling' ? 'cancelled' : outcome);
      const takenAt = this.#takenAt.get(taskId);
      if (takenAt !== undefined) this.#ran(next.target).observe((now - takenAt) / 1000);
      this.#takenAt.delete(taskId);
    }
    if (!isOver(next.subState)) return;
    this.#takenAt.delete(taskId);
    this.tasksEnded.add(next.subState);
  }

  #ran(target: string): Histogram {
    const role = target.startsWith('role:') ? target.slice(5) : '';
    const label = this.taskRun.has(role) || this.taskRun.size < ROLES ? role : 'other';
    const known = this.taskRun.get(label) ?? new Histogram(slow);
    this.taskRun.set(label, known);
    return known;
  }
}
