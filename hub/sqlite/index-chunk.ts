import type { StoredMessage } from '../storage.ts';
import { isName, type Kind } from './positions.ts';
import type { Prepare } from './statements.ts';
import { bytesOf, type Known, type Unindexed } from './unindexed.ts';

/**
 * Messages, bytes and keys that are indexed together: what one commit may have to write besides its own. A key costs most,
 * since it has a page of its own in a large index.
 */
export const CHUNK = { messages: 512, bytes: 1024 * 1024, keys: 192 };

/** Keys that one message may have. */
const KEYS_EACH = 5;

/** A row of the index while it is made. */
interface Draft {
  last: number;
  count: number;
  bytes: number;
  readonly at: number[];
}

/** The keys of one chunk, by kind; written out for speed, since every message passes here. */
class Drafts {
  readonly #chunk: number;
  readonly #kinds = {
    box: new Map<string, Draft>(),
    task: new Map<string, Draft>(),
    sender: new Map<string, Draft>(),
    to: new Map<string, Draft>(),
    type: new Map<string, Draft>(),
  };

  constructor(chunk: number) {
    this.#chunk = chunk;
  }

  get keys(): number {
    const { box, task, sender, to, type } = this.#kinds;
    return box.size + task.size + sender.size + to.size + type.size;
  }

  add(lsn: number, bytes: number, { type, box, taskId, from, to }: Known): void {
    this.#note('sender', from, lsn);
    this.#note('type', type, lsn);
    if (taskId !== '') this.#note('task', taskId, lsn);
    if (box !== null) {
      const draft = this.#note('box', box, lsn);
      draft.at.push(bytes);
      draft.bytes += bytes;
    }
    if (to !== box && isName(to)) this.#note('to', to, lsn);
  }

  addType(lsn: number, type: string): void {
    this.#note('type', type, lsn);
  }

  *rows(): Generator<[kind: Kind, key: string, draft: Draft]> {
    for (const kind of ['sender', 'task', 'box', 'to', 'type'] as const) {
      for (const [key, draft] of this.#kinds[kind]) yield [kind, key, draft];
    }
  }

  #note(kind: Kind, key: string, lsn: number): Draft {
    const drafts = this.#kinds[kind];
    let draft = drafts.get(key);
    if (draft === undefined) {
      draft = { last: lsn, count: 0, bytes: 0, at: [] };
      drafts.set(key, draft);
    }
    draft.last = lsn;
    draft.count += 1;
    draft.at.push(lsn - this.#chunk);
    return draft;
  }
}

/** Indexes the messages after a position, as many as make one chunk; returns the last position and the bytes that it covers. */
export function indexChunk(prepare: Prepare, unindexed: Unindexed, afterLsn: number): { last: number; bytes: number } {
  const first = Math.max(afterLsn + 1, unindexed.first);
  const drafts = new Drafts(first);
  const ids: string[] = [];
  let [last, bytes, ts] = [first - 1, 0, Number.POSITIVE_INFINITY];
  for (let lsn = first; lsn <= unindexed.last && lsn < first + CHUNK.messages; lsn += 1) {
    const row = unindexed.row(lsn);
    if (row !== undefined) {
      const size = bytesOf(row);
      drafts.add(lsn, size, row);
      bytes += size;
      ts = Math.min(ts, unindexed.time(lsn));
    }
    ids.push(row?.id ?? '');
    last = lsn;
    if (bytes >= CHUNK.bytes || drafts.keys > CHUNK.keys - KEYS_EACH) break;
  }
  // Nothing is left of a stretch that was trimmed.
  if (ts === Number.POSITIVE_INFINITY) return { last, bytes };
  prepare('INSERT INTO chunk (first, last, ts, typed) VALUES (?, ?, ?, 1)').run(first, last, ts);
  prepare('INSERT INTO chunk_ids (chunk, ids) VALUES (?, ?)').run(first, JSON.stringify(ids));
  write(prepare, first, drafts);
  return { last, bytes };
}

/** Adds the types of its messages to a chunk that an earlier version has indexed. */
export function indexTypes(prepare: Prepare, chunk: number, messages: Iterable<StoredMessage>): void {
  const drafts = new Drafts(chunk);
  for (const { lsn, type } of messages) drafts.addType(lsn, type);
  write(prepare, chunk, drafts);
  prepare('UPDATE chunk SET typed = 1 WHERE first = ?').run(chunk);
}

function write(prepare: Prepare, chunk: number, drafts: Drafts): void {
  const add = prepare('INSERT INTO position (kind, key, chunk, last, count, bytes, at) VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const [kind, key, row] of drafts.rows()) {
    add.run(kind, key, chunk, row.last, row.count, row.bytes, JSON.stringify(row.at));
  }
}
