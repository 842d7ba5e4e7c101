import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../base/sqlite.ts';
import type { StoredMessage } from '../storage.ts';
import { batchesAfter, messagesOf } from './batches.ts';
import { CHUNK, cutToChunk, indexChunk, indexedUpTo } from './positions.ts';
import { type Prepare, statements } from './statements.ts';
import { transactions } from './transactions.ts';

/** Indexes what lies behind the index, but for less than a chunk; in pieces, each of which stays done. */
export async function catchUpIndex(database: Database): Promise<void> {
  const prepare = statements(database);
  const transaction = transactions(database);
  for (let messages = nextChunk(prepare); messages !== undefined; messages = nextChunk(prepare)) {
    const chunk = messages;
    transaction(() => indexChunk(prepare, chunk));
    await setImmediate();
  }
}

function nextChunk(prepare: Prepare): readonly StoredMessage[] | undefined {
  const messages: StoredMessage[] = [];
  let bytes = 0;
  const indexed = indexedUpTo(prepare);
  for (const batch of batchesAfter(prepare, indexed)) {
    for (const message of messagesOf(batch, indexed)) {
      messages.push(message);
      bytes += message.body.length;
      if (messages.length >= CHUNK.messages || bytes >= CHUNK.bytes) return cutToChunk(messages);
    }
  }
  return undefined;
}
