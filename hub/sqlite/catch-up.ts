import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../base/sqlite.ts';
import { batchesAfter, messagesOf } from './batches.ts';
import { CHUNK, indexChunk } from './index-chunk.ts';
import { indexedUpTo } from './positions.ts';
import { type Prepare, statements } from './statements.ts';
import { transactions } from './transactions.ts';
import { Unindexed } from './unindexed.ts';

/** Indexes what lies behind the index, but for less than a chunk; in pieces, each of which stays done. */
export async function catchUpIndex(database: Database): Promise<void> {
  const prepare = statements(database);
  const transaction = transactions(database);
  for (let next = nextChunk(prepare); next !== undefined; next = nextChunk(prepare)) {
    const unindexed = next;
    transaction(() => indexChunk(prepare, unindexed, 0));
    await setImmediate();
  }
}

/** The messages of one chunk; undefined when there are not enough. */
function nextChunk(prepare: Prepare): Unindexed | undefined {
  const unindexed = new Unindexed();
  const indexed = indexedUpTo(prepare);
  for (const batch of batchesAfter(prepare, indexed)) {
    for (const message of messagesOf(batch, indexed)) {
      unindexed.add(message.lsn, message, message.ts);
      if (unindexed.size >= CHUNK.messages || unindexed.bytes >= CHUNK.bytes) return unindexed;
    }
  }
  return undefined;
}
