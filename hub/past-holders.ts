import type { Storage, TaskRecord } from './storage.ts';
import type { Turn } from './turn.ts';

/** Words about one task that are looked at. */
const LOOKED_AT = 500;

/**
 * Whether an agent was offered this attempt of a task, or any when none is named: what it says of it then is late, and not a
 * stranger's. Asks the log, which keeps all that was said of a task until its end.
 */
export async function wasHolder(
  { storage, turn }: { readonly storage: Pick<Storage, 'latest'>; readonly turn: Turn },
  name: string,
  attempt: number | undefined,
  { taskId, attempt: newest }: TaskRecord,
): Promise<boolean> {
  // An offer that came to nothing gives its number back.
  if (attempt !== undefined && attempt > newest + 1) return false;
  await new Promise<void>((resolve) => turn.after(resolve));
  const told = await storage.latest({ taskId, type: 'task.status' }, LOOKED_AT);
  return told.some((message) => {
    if (message.from !== 'hub') return false;
    const { payload } = JSON.parse(message.body.toString()) as { payload: { agent: string | null; attempt: number } };
    return payload.agent === name && (attempt === undefined || payload.attempt === attempt);
  });
}
