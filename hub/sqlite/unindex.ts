import type { LogRow, StoredMessage } from '../storage.ts';
import { entriesIn, isName, type Kind, type PositionRow } from './positions.ts';
import type { Prepare } from './statements.ts';

/** Takes messages that are deleted, in log order, out of the index. */
export function unindex(prepare: Prepare, messages: readonly StoredMessage[]): void {
  const chunkOf = prepare('SELECT first, last FROM chunk WHERE first <= ? ORDER BY first DESC LIMIT 1');
  const rows = new Map<string, { kind: Kind; key: string; chunk: number; lsns: Set<number> }>();
  let chunk: { readonly first: number; readonly last: number } | undefined;
  for (const message of messages) {
    if (chunk === undefined || message.lsn > chunk.last) chunk = chunkOf.get(message.lsn) as typeof chunk;
    if (chunk === undefined || message.lsn > chunk.last) continue;
    for (const [kind, key] of keysOf(message)) {
      const name = `${kind} ${chunk.first} ${key}`;
      const row = rows.get(name) ?? { kind, key, chunk: chunk.first, lsns: new Set() };
      rows.set(name, row);
      row.lsns.add(message.lsn);
    }
  }
  for (const row of rows.values()) strike(prepare, row);
  for (const chunk of new Set([...rows.values()].map((row) => row.chunk))) forget(prepare, chunk);
}

/** A chunk of which nothing is left is no longer told of. */
function forget(prepare: Prepare, chunk: number): void {
  const left = prepare(
    `SELECT 1 FROM chunk WHERE first = ? AND EXISTS
      (SELECT 1 FROM batch WHERE batch.first <= chunk.last AND batch.first + count > chunk.first AND batch.first > chunk.first - 256)`,
  ).get(chunk);
  if (left !== undefined) return;
  prepare('DELETE FROM chunk WHERE first = ?').run(chunk);
  prepare('DELETE FROM chunk_ids WHERE chunk = ?').run(chunk);
}

function strike(
  prepare: Prepare,
  { kind, key, chunk, lsns }: { kind: Kind; key: string; chunk: number; lsns: Set<number> },
): void {
  const whole = 'DELETE FROM position WHERE kind = ? AND key = ? AND chunk = ? AND count <= ?';
  if (prepare(whole).run(kind, key, chunk, lsns.size).changes > 0) return;
  const row = prepare('SELECT chunk, at FROM position WHERE kind = ? AND key = ? AND chunk = ?').get(kind, key, chunk);
  if (row === undefined) return;
  const left = entriesIn(prepare, kind, key, row as unknown as PositionRow).filter(({ lsn }) => !lsns.has(lsn));
  prepare('UPDATE position SET (last, count, bytes, at) = (?, ?, ?, ?) WHERE kind = ? AND key = ? AND chunk = ?').run(
    left.at(-1)?.lsn ?? chunk,
    left.length,
    left.reduce((sum, { bytes }) => sum + bytes, 0),
    JSON.stringify(left.flatMap(({ lsn, bytes }) => (kind === 'box' ? [lsn - chunk, bytes] : [lsn - chunk]))),
    kind,
    key,
    chunk,
  );
}

/** What a message that goes was found by: the keys that indexing it has made. */
function keysOf({ type, box, taskId, from, to }: LogRow): [kind: Kind, key: string][] {
  const keys: [Kind, string][] = [
    ['sender', from],
    ['type', type],
  ];
  if (taskId !== '') keys.push(['task', taskId]);
  if (box !== null) keys.push(['box', box]);
  if (to !== box && isName(to)) keys.push(['to', to]);
  return keys;
}
