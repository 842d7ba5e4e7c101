import { v7 as uuidv7 } from 'uuid';
import { type Clock, systemClock } from '../base/time.ts';
import type { Envelope, TaskRow } from '../protocol/index.ts';
import { defaultClocks, type HubOptions } from './options.ts';
import { type RunningHub, serveHub } from './start-hub.ts';
import type { Change, LogRow, TaskRecord } from './storage.ts';

/** A message that another hub logged, and what its task stood at after it. */
export interface Replayed {
  readonly frame: Envelope;
  readonly task?: TaskRow | undefined;
}

/** A hub that shows what another one logged; whatever agents want to add is refused with `forbidden`. */
export interface ReplayHub extends RunningHub {
  /**
   * Adds messages in their order, with their times (`ts`; without one, that of the message before) and in nobody's mailbox.
   * Resolves when they can be looked at.
   */
  add(messages: readonly Replayed[]): Promise<void>;
}

/** Starts a hub on a new database for {@link ReplayHub.add}. It takes up no task; its wall clock stands at the last message. */
export async function startReplay(options: Omit<HubOptions, 'clock'>): Promise<ReplayHub> {
  let now = Date.now();
  const clock: Clock = { ...systemClock, now: () => now };
  const { running, hub } = await serveHub({ ...options, clock }, { replay: true });
  const stands = new Map<string, { attempt: number; subState: TaskRecord['subState'] }>();
  const changeOf = (row: TaskRow): Extract<Change, { kind: 'task' }> => {
    const task = recordOf(row);
    const expect = stands.get(task.taskId) ?? null;
    stands.set(task.taskId, { attempt: task.attempt, subState: task.subState });
    return { kind: 'task', task, expect };
  };
  return {
    ...running,
    async add(messages) {
      for (const group of byTime(messages)) {
        now = group[0]?.frame.ts ?? now;
        const changes = group.flatMap(({ task }) => (task ? [changeOf(task)] : []));
        await hub.record(
          group.map(({ frame }) => rowOf(frame)),
          changes,
        );
      }
    },
  };
}

/** Messages that were committed at the same time, which are one commit here too. */
function byTime(messages: readonly Replayed[]): Replayed[][] {
  const groups: Replayed[][] = [];
  let ts: number | undefined;
  for (const message of messages) {
    const last = groups.at(-1);
    if (last && (message.frame.ts ?? ts) === ts) last.push(message);
    else groups.push([message]);
    ts = message.frame.ts ?? ts;
  }
  return groups;
}

function rowOf(frame: Envelope): LogRow {
  const { lsn: _, ts: __, seq: ___, prev: ____, redelivered: _____, ...rest } = frame;
  const { type, from, to, task_id: taskId, attempt = null, id = uuidv7() } = rest;
  const body = Buffer.from(JSON.stringify({ ...rest, payload: rest.payload ?? null, id }));
  return { type, from, to, box: null, taskId, id, attempt, body };
}

function recordOf({ task_id: taskId, sub_state: subState, state: _, ...row }: TaskRow): TaskRecord {
  const unknown = {
    losses: 0,
    session: null,
    priority: 0,
    assignId: null,
    resultId: null,
    deadline: null,
  };
  const clocks = { maxAttempts: 3, silenceMs: defaultClocks.silence, attemptMs: defaultClocks.attempt };
  return { ...row, taskId, subState, ...unknown, ...clocks };
}
