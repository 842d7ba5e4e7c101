import { LONGEST_CALL } from './live-task.ts';
import type { Storage, StoredMessage, TaskRecord } from './storage.ts';

/** Frames of one task that are looked at; a client sends one every 20 s at most, and a call takes an hour at most. */
const LOOKED_AT = 200;

/** About the bytes of them; a checkpoint may be half a megabyte. */
const BYTES = 1024 * 1024;

/** What the workers of an earlier process said last, by task. */
export interface LastWords {
  /** Until when who is at work said that it is busy, ms since epoch. */
  readonly busy: ReadonlyMap<string, number>;
  /** Id of the question that is open. */
  readonly questions: ReadonlyMap<string, string>;
}

/** What the log knows of open tasks that is in no row of theirs. */
export async function readLastWords(
  storage: Pick<Storage, 'latest'>,
  records: readonly TaskRecord[],
): Promise<LastWords> {
  const busy = new Map<string, number>();
  const questions = new Map<string, string>();
  for (const record of records) {
    const { taskId, subState } = record;
    if (subState === 'working') {
      const until = await busyUntil(storage, record);
      if (until !== undefined) busy.set(taskId, until);
    }
    if (subState === 'input_required') {
      const asked = await openQuestion(storage, record);
      if (asked !== undefined) questions.set(taskId, asked.id);
    }
  }
  return { busy, questions };
}

/** The newest question of the attempt at work: whoever waits for an answer can ask nothing else. */
async function openQuestion(
  storage: Pick<Storage, 'latest'>,
  { taskId, attempt }: TaskRecord,
): Promise<StoredMessage | undefined> {
  const [asked] = await storage.latest({ taskId, type: 'task.input' }, 1);
  return asked?.damaged || asked?.attempt !== attempt ? undefined : asked;
}

async function busyUntil(
  storage: Pick<Storage, 'latest'>,
  { taskId, attempt }: TaskRecord,
): Promise<number | undefined> {
  const [asked] = await storage.latest({ taskId, type: 'task.input' }, 1);
  let until: number | undefined;
  for (const frame of await storage.latest({ taskId, type: 'task.progress' }, LOOKED_AT, undefined, BYTES)) {
    // Who asks is not busy any more.
    if (frame.attempt !== attempt || frame.lsn < (asked?.lsn ?? 0)) continue;
    const { payload } = JSON.parse(frame.body.toString()) as { payload?: { busy_until?: number } };
    // What is not said stays as it was.
    if (payload?.busy_until) until = Math.min(payload.busy_until, frame.ts + LONGEST_CALL);
  }
  return until;
}
