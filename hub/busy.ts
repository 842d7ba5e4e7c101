import { LONGEST_CALL } from './live-task.ts';
import type { Storage, TaskRecord } from './storage.ts';

/** Frames of one task that are looked at; a client sends one every 20 s at most, and a call takes an hour at most. */
const LOOKED_AT = 200;

/** Until when the workers of an earlier process said that they are busy, by task, ms since epoch: the log knows. */
export async function readBusy(
  storage: Pick<Storage, 'latest'>,
  records: readonly TaskRecord[],
): Promise<ReadonlyMap<string, number>> {
  const busy = new Map<string, number>();
  for (const { taskId, attempt, subState } of records) {
    if (subState !== 'working') continue;
    const frames = await storage.latest({ taskId, type: 'task.progress' }, LOOKED_AT);
    for (const frame of frames) {
      if (frame.attempt !== attempt) continue;
      const { payload } = JSON.parse(frame.body.toString()) as { payload?: { busy_until?: number } };
      // What is not said stays as it was.
      if (payload?.busy_until) busy.set(taskId, Math.min(payload.busy_until, frame.ts + LONGEST_CALL));
    }
  }
  return busy;
}
