import type { Storage, TaskRecord } from './storage.ts';
import type { Turn } from './turn.ts';

/** Words about one task that are looked at, the newest; how many and bytes of them at once; and bytes in all. */
const LOOKED_AT = 500;
const PAGE = 100;
const PAGE_BYTES = 256 * 1024;
const BYTES = 8 * 1024 * 1024;

/** What was found of a task, as long as it stands where it stood: a new offer makes a new row. */
const found = new WeakMap<TaskRecord, Promise<ReadonlySet<string>>>();

/**
 * Whether an agent was offered this attempt of a task, or any when none is named: what it says of it then is late, and not a
 * stranger's. Asks the log, which keeps all that was said of a task until its end, once for all who say something of a task.
 */
export async function wasHolder(
  { storage, turn }: { readonly storage: Pick<Storage, 'latest'>; readonly turn: Turn },
  name: string,
  attempt: number | undefined,
  record: TaskRecord,
): Promise<boolean> {
  // An offer that came to nothing gives its number back.
  if (attempt !== undefined && attempt > record.attempt + 1) return false;
  let holders = found.get(record);
  if (holders === undefined) {
    holders = new Promise<void>((resolve) => turn.after(resolve)).then(() => holdersOf(record.taskId, storage));
    found.set(record, holders);
    holders.catch(() => found.delete(record));
  }
  return (await holders).has(keyOf(name, attempt));
}

/** Who was offered a task, each alone and with the number of the attempt. */
async function holdersOf(taskId: string, storage: Pick<Storage, 'latest'>): Promise<ReadonlySet<string>> {
  const holders = new Set<string>();
  let [left, room] = [LOOKED_AT, BYTES];
  let before: number | undefined;
  while (left > 0 && room > 0) {
    const page = await storage.latest({ taskId, type: 'task.status' }, Math.min(PAGE, left), before, PAGE_BYTES);
    const [earliest] = page;
    if (earliest === undefined) break;
    for (const { from, type, body } of page) {
      room -= body.length;
      if (from !== 'hub' || type !== 'task.status') continue;
      const { payload } = JSON.parse(body.toString()) as { payload: { agent: string | null; attempt: number } };
      if (payload.agent === null) continue;
      holders.add(keyOf(payload.agent, undefined)).add(keyOf(payload.agent, payload.attempt));
    }
    left -= page.length;
    before = earliest.lsn;
  }
  return holders;
}

function keyOf(name: string, attempt: number | undefined): string {
  return attempt === undefined ? name : `${name} ${attempt}`;
}
