import { createHash } from 'node:crypto';
import type { ToolContext } from '../../core/tool.ts';

type Memo = ToolContext['memo'];

/** What the task knows of a file: nothing, the content that lies there now, or an older one. */
export type Knowledge = 'unread' | 'current' | 'stale';

/** Notes that the task knows this content of the file. */
export function noteSeen(memo: Memo, path: string, bytes: Buffer): void {
  family<string>(memo, 'seen-files').set(path, digest(bytes));
}

/** Compares what lies there now with what the task last read or wrote. */
export function knowledgeOf(memo: Memo, path: string, bytes: Buffer): Knowledge {
  const seen = family<string>(memo, 'seen-files').get(path);
  if (seen === undefined) return 'unread';
  return seen === digest(bytes) ? 'current' : 'stale';
}

/** Runs `work` after all earlier work on the same file has ended, so that of two edits at once none is lost. */
export async function inTurn<T>(memo: Memo, path: string, work: () => Promise<T>): Promise<T> {
  const queues = family<Promise<unknown>>(memo, 'file-queues');
  const before = queues.get(path) ?? Promise.resolve();
  const mine = before.then(work, work);
  queues.set(path, mine);
  try {
    return await mine;
  } finally {
    if (queues.get(path) === mine) queues.delete(path);
  }
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function family<T>(memo: Memo, name: string): Map<string, T> {
  const known = memo.get(name) as Map<string, T> | undefined;
  if (known) return known;
  const made = new Map<string, T>();
  memo.set(name, made);
  return made;
}
