import { isLoggedType } from '../../protocol/frame-types.ts';
import type { LogFilter, StoredMessage } from '../storage.ts';
import { batchesAfter, batchesBefore, mayHold, messagesAt, messagesOf } from './batches.ts';
import {
  backwards,
  type Entry,
  forwards,
  inBoth,
  isName,
  type Kind,
  knowsTypes,
  merged,
  treeKeys,
} from './positions.ts';
import type { Prepare } from './statements.ts';
import type { Unindexed } from './unindexed.ts';

/** Tasks of one tree that are looked up one by one; a larger tree is found by looking through the log. */
const TREE = 500;

/** Messages that were found together, the position up to which that was, or down to which, and how much was looked at for them. */
export interface Piece {
  readonly messages: Iterable<StoredMessage>;
  readonly end: number;
  readonly count: number;
  readonly bytes: number;
}

/** Where is looked: the index and the batches, and what lies behind the index. */
export interface Search {
  readonly prepare: Prepare;
  readonly unindexed: Unindexed;
}

/** The messages after a position that a filter may ask for, and some more, in log order. */
export function* pieces(search: Search, filter: LogFilter, afterLsn: number): Generator<Piece> {
  const { prepare, unindexed } = search;
  const { first, last, size, bytes } = unindexed;
  if (afterLsn < first - 1) {
    const keys = keysOf(prepare, filter);
    if (keys === undefined) yield* scan(prepare, filter, afterLsn, first);
    else yield* ofKeys(prepare, keys, afterLsn, first);
  }
  yield { messages: unindexed.after(afterLsn), end: last, count: size, bytes };
}

/** Batch by batch, up to what is not indexed. */
function* scan(prepare: Prepare, filter: LogFilter, afterLsn: number, until: number): Generator<Piece> {
  for (const batch of batchesAfter(prepare, afterLsn)) {
    if (batch.first >= until) return;
    const last = Math.min(batch.last, until - 1);
    const messages = mayHold(batch, filter) ? messagesOf(batch, afterLsn, last) : [];
    yield { messages, end: last, count: last - batch.first + 1, bytes: batch.size };
  }
}

function* ofKeys(prepare: Prepare, keys: readonly Key[][], afterLsn: number, until: number): Generator<Piece> {
  const found = inAll(keys.map((any) => merged(any.map(([kind, key]) => forwards(prepare, kind, key, afterLsn)))));
  yield* opened(prepare, positionsOf(found, until));
}

function* opened(prepare: Prepare, lsns: Iterable<number>): Generator<Piece> {
  let bytes = 0;
  for (const message of messagesAt(prepare, lsns, ({ size }) => {
    bytes += size;
  })) {
    yield { messages: [message], end: message.lsn, count: 1, bytes };
    bytes = 0;
  }
}

/** The messages before a position that a filter may ask for, and some more, the newest first. */
export function* piecesBack(search: Search, filter: LogFilter, beforeLsn: number): Generator<Piece> {
  const { prepare, unindexed } = search;
  const { first, size, bytes } = unindexed;
  if (beforeLsn > first) yield { messages: unindexed.backwards(beforeLsn), end: first, count: size, bytes };
  const before = Math.min(beforeLsn, first);
  const keys = keysOf(prepare, filter);
  if (keys !== undefined) {
    const sources = keys.map((any) =>
      merged(
        any.map(([kind, key]) => backwards(prepare, kind, key, before)),
        true,
      ),
    );
    yield* opened(prepare, positionsOf(inAll(sources, true)));
    return;
  }
  for (const batch of batchesBefore(prepare, before)) {
    const messages = mayHold(batch, filter) ? [...messagesOf(batch, 0, before - 1)].reverse() : [];
    yield { messages, end: batch.first, count: Math.min(batch.last, before - 1) - batch.first + 1, bytes: batch.size };
  }
}

/**
 * What the index knows the messages of a filter by, and some more: one key of each list. Undefined when looking through the
 * log is the better way.
 */
function keysOf(prepare: Prepare, { taskId, tree, agent, type }: LogFilter): Key[][] | undefined {
  if (taskId !== undefined && taskId !== '') {
    const tasks = tree ? treeKeys(prepare, taskId, TREE) : [taskId];
    if (tasks !== undefined) return [tasks.map((task) => ['task', task])];
  }
  const keys: Key[][] = [];
  if (type !== undefined && isLoggedType(type) && knowsTypes(prepare)) keys.push([['type', type]]);
  if (agent !== undefined && isName(agent)) {
    keys.push((['sender', 'box', 'to'] as const).map((kind) => [kind, agent]));
  }
  return keys.length === 0 ? undefined : keys;
}

type Key = readonly [kind: Kind, key: string];

function inAll(sources: readonly Generator<Entry>[], newestFirst = false): Generator<Entry> {
  return sources.reduce((one, other) => inBoth(one, other, newestFirst));
}

/** Their positions, up to one. */
export function* positionsOf(entries: Iterable<Entry>, until = Number.POSITIVE_INFINITY): Generator<number> {
  for (const { lsn } of entries) {
    if (lsn >= until) return;
    yield lsn;
  }
}
