import { z } from 'zod';
import { Artifact, frames, Issue, type TaskPayload, type TaskResultPayload } from '../protocol/index.ts';
import { splice } from './answers.ts';
import type { StoredMessage } from './storage.ts';

/** Whether level 0 is told of a message at all. */
export function isForLevelZero(message: StoredMessage): boolean {
  return message.type === 'route' || toLevelZero(message) !== undefined;
}

/** What a level-0 connection, which knows `route` alone, is told of a message; undefined when it is not for its ears. */
export function toLevelZero(message: StoredMessage): string | undefined {
  const { lsn, ts } = message;
  const stamped = splice(message.body.toString(), `"lsn":${lsn},"ts":${ts}`);
  switch (message.type) {
    case 'route':
      return stamped;
    case 'task.result':
    case 'task.input':
    case 'task.answer':
      return JSON.stringify({ ...JSON.parse(stamped), type: 'route' });
    case 'task.status':
      return failure(stamped);
    default:
      return undefined;
  }
}

/** A task that ended without a result looks like a result with `failed`; how it stood on the way is not told. */
function failure(body: string): string | undefined {
  const status = frames['task.status'].parse(JSON.parse(body));
  if (status.payload.state !== 'failed') return undefined;
  const payload: TaskResultPayload = { status: 'failed', summary: status.payload.reason, artifacts: [], issues: [] };
  return JSON.stringify({ ...status, type: 'route', payload });
}

/** What a result by hand may call itself, in lower case. */
const statuses: ReadonlyMap<string, 'success' | 'failed'> = new Map([
  ['success', 'success'],
  ['ok', 'success'],
  ['done', 'success'],
  ['completed', 'success'],
  ['failed', 'failed'],
  ['failure', 'failed'],
  ['error', 'failed'],
]);

/** Reads the payload of a worker's `route` as a result; undefined when its status says nothing final. */
export function resultOf(payload: unknown): TaskResultPayload | undefined {
  // Asked of every message of level 0: no schema for what most of them are not.
  if (typeof payload !== 'object' || payload === null || !('status' in payload)) return undefined;
  const { status: word, summary, artifacts, issues } = payload as Readonly<Record<string, unknown>>;
  const status = typeof word === 'string' ? statuses.get(word.toLowerCase()) : undefined;
  if (status === undefined) return undefined;
  return {
    status,
    summary: (typeof summary === 'string' ? summary : JSON.stringify(summary ?? '')).slice(0, 2000),
    artifacts: readable(Artifact, artifacts),
    issues: readable(Issue, issues),
  };
}

/** The payload of a `route` that answers a question, as its text. */
export function textOf(payload: unknown): string {
  return typeof payload === 'string' ? payload : JSON.stringify(payload ?? '');
}

/** The payload of a `route` that assigns a task, as a task's payload: a text is its goal. */
export function goalOf(payload: unknown): TaskPayload {
  const fields = z.looseObject({ goal: z.string().min(1) }).safeParse(payload);
  const goal = fields.success ? fields.data.goal : typeof payload === 'string' && payload !== '' ? payload : undefined;
  const constraints = fields.success ? readable(z.string(), fields.data.constraints) : [];
  const artifacts = fields.success ? readable(Artifact, fields.data.artifacts) : [];
  return { goal: goal ?? JSON.stringify(payload ?? ''), artifacts, constraints };
}

function readable<T>(schema: z.ZodType<T>, list: unknown): T[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const read = schema.safeParse(item);
    return read.success ? [read.data] : [];
  });
}
