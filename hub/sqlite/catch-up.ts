import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../base/sqlite.ts';
import type { StoredMessage } from '../storage.ts';
import { batchAt, batchesAfter, messagesOf } from './batches.ts';
import { CHUNK, indexChunk, indexTypes } from './index-chunk.ts';
import { indexedUpTo } from './positions.ts';
import { mustBeSound } from './rot.ts';
import { type Prepare, statements } from './statements.ts';
import { transactions } from './transactions.ts';
import { Unindexed } from './unindexed.ts';

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Indexes what lies behind the index, but for less than a chunk, and what an earlier version's index leaves out; in pieces, each of which stays done. */
export async function catchUpIndex(database: Database): Promise<void> {
  const prepare = statements(database);
  const transaction = transactions(database);
  for (let next = nextChunk(prepare); next !== undefined; next = nextChunk(prepare)) {
    const unindexed = next;
    transaction(() => indexChunk(prepare, unindexed, 0));
    await setImmediate();
  }
  for (let next = untypedChunk(prepare); next !== undefined; next = untypedChunk(prepare)) {
    const chunk = next;
    transaction(() => indexTypes(prepare, chunk.first, messagesIn(prepare, chunk)));
    await setImmediate();
  }
}

function untypedChunk(prepare: Prepare): Range | undefined {
  return prepare('SELECT first, last FROM chunk WHERE typed = 0 ORDER BY first LIMIT 1').get() as Range | undefined;
}

function* messagesIn(prepare: Prepare, { first, last }: Range): Generator<StoredMessage> {
  for (const batch of batchesAfter(prepare, first - 1)) {
    if (batch.first > last) return;
    yield* messagesOf(batch, first - 1, last);
  }
}

/** The messages of one chunk; undefined when there are not enough. */
function nextChunk(prepare: Prepare): Unindexed | undefined {
  const unindexed = new Unindexed((lsn) => batchAt(prepare, lsn));
  const indexed = indexedUpTo(prepare);
  for (const batch of batchesAfter(prepare, indexed)) {
    for (const message of messagesOf(batch, indexed)) {
      mustBeSound(message);
      unindexed.add(message.lsn, message, message.ts);
      if (unindexed.size >= CHUNK.messages || unindexed.bytes >= CHUNK.bytes) return unindexed;
    }
  }
  return undefined;
}
