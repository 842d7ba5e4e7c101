import type { Change, LogRow, Storage } from '../../hub/storage.ts';

/** The commit at which the hub is to be held. */
export interface Mark {
  /** Type of frame; `any` is every commit. */
  readonly type: string;
  readonly skip: number;
}

/** Where it was held. */
export interface Hit {
  readonly type: string;
  readonly lsn: number;
  readonly from: string;
  readonly to: string;
  readonly taskId: string;
  /** All frames of the commit. */
  readonly types: readonly string[];
}

/** A storage that stops between a commit and its being told of, and what sets the place. */
export interface HaltingStorage {
  readonly storage: Storage;
  arm(mark: Mark | undefined): void;
}

/** Wraps `inner`: the commit that holds the marked frame is durable when `halt` is called, and its caller hears of it when `halt` resolves. */
export function haltingStorage(inner: Storage, halt: (hit: Hit) => Promise<void>): HaltingStorage {
  let mark: Mark | undefined;
  let left = 0;
  const commit: Storage['commit'] = async (changes, ts) => {
    const lsns = await inner.commit(changes, ts);
    const found = mark === undefined ? undefined : hitOf(changes, lsns, mark.type, left);
    if (typeof found === 'number') left = found;
    else if (found !== undefined) {
      mark = undefined;
      await halt(found);
    }
    return lsns;
  };
  const storage = new Proxy(inner, {
    get(target, key) {
      if (key === 'commit') return commit;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    storage,
    arm: (next) => {
      mark = next;
      left = next?.skip ?? 0;
    },
  };
}

/** The marked frame when it is in this commit, else how many are still to be passed over. */
function hitOf(changes: readonly Change[], lsns: readonly number[], type: string, skip: number): Hit | number {
  const types = changes.flatMap((change) => typeOf(change) ?? []);
  let left = skip;
  let messages = 0;
  for (const change of changes) {
    const lsn = change.kind === 'message' ? (lsns[messages++] ?? 0) : 0;
    const own = typeOf(change);
    if (own === undefined || (type !== 'any' && own !== type)) continue;
    if (left === 0) return { type: own, lsn, ...partiesOf(change), types };
    left -= 1;
  }
  return left;
}

/** Which frame is behind a change: some are not logged, and show only by what they change. */
function typeOf(change: Change): string | undefined {
  switch (change.kind) {
    case 'message':
      return change.row.type;
    case 'session':
      return 'hello';
    case 'cursor':
      return 'ack';
    case 'task':
      return change.task.reason?.endsWith('said goodbye') && change.task.subState === 'queued' ? 'bye' : undefined;
    default:
      return undefined;
  }
}

function partiesOf(change: Change): Pick<Hit, 'from' | 'to' | 'taskId'> {
  switch (change.kind) {
    case 'message':
      return ofRow(change.row);
    case 'session':
      return { from: change.session.name, to: 'hub', taskId: '' };
    case 'cursor':
      return { from: change.name, to: 'hub', taskId: '' };
    case 'task':
      return { from: change.task.reason?.split(' ')[0] ?? 'hub', to: change.task.owner, taskId: change.task.taskId };
    default:
      return { from: 'hub', to: 'hub', taskId: '' };
  }
}

function ofRow({ from, to, box, taskId }: LogRow): Pick<Hit, 'from' | 'to' | 'taskId'> {
  return { from, to: box ?? to, taskId };
}
