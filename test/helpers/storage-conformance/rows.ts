import type { Change, SessionRecord, StoredMessage, TaskRecord } from '../../../hub/storage.ts';

/** What a test says of a message; the rest is made up. */
export interface Said {
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
  readonly box?: string | null;
  readonly taskId?: string;
  readonly id?: string;
  readonly attempt?: number | null;
  readonly payload?: unknown;
  /** Written with blanks in it and around it, as some senders do. */
  readonly spaced?: boolean;
}

let made = 0;

/** A message whose body is the frame that its columns tell of. */
export function message(said: Said = {}): Extract<Change, { kind: 'message' }> {
  made += 1;
  const { type = 'route', from = 'a', to = 'b', box = null, taskId = '', id = `id-${made}`, attempt = null } = said;
  const frame = {
    type,
    from,
    to,
    task_id: taskId,
    payload: said.payload ?? made,
    id,
    ...(attempt !== null && { attempt }),
  };
  const body = Buffer.from(said.spaced ? ` \r\n${JSON.stringify(frame, null, 1)}\t\n` : JSON.stringify(frame));
  return { kind: 'message', row: { type, from, to, box, taskId, id, attempt, body } };
}

/** Messages in one commit. */
export function messages(count: number, said: (index: number) => Said = () => ({})): Change[] {
  return Array.from({ length: count }, (_, index) => message(said(index)));
}

/** What is expected of a row once it is stored. */
export function stored(change: Change, lsn: number | undefined, ts: number): StoredMessage {
  if (change.kind !== 'message') throw new Error('not a message');
  return { ...change.row, lsn: lsn ?? 0, ts };
}

/** A task as it is when it was just assigned. */
export function task(taskId: string, change: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId,
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
    silenceMs: 300_000,
    attemptMs: 1_800_000,
    assignId: 'assign',
    resultId: null,
    deadline: null,
    summary: null,
    created: 1,
    updated: 1,
    ...change,
  };
}

/** A name that has spoken level 1. */
export function session(name: string, acked = 0): Extract<Change, { kind: 'session' }> {
  const record: SessionRecord = { name, session: `session of ${name}`, tokenHash: 'hash', acked };
  return { kind: 'session', session: record };
}
