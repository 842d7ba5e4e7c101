import { isDeepStrictEqual } from 'node:util';
import { openDatabase } from '../../base/sqlite.ts';
import { openStorage } from '../../hub/sqlite-storage.ts';
import type { StoredMessage } from '../../hub/storage.ts';
import type { Tally } from './fuzz-peer.ts';

/** What the log holds after all. */
export interface LogFindings {
  readonly rows: number;
  /** Rows of the fuzzing peers, but for stale results; what they must be. */
  readonly own: number;
  readonly expected: number;
  /** Rows of the hub itself, and stale results, which are logged and refused. */
  readonly ofHub: number;
  readonly stale: number;
  readonly faults: readonly string[];
}

/** Holds the log against what its senders were told: as many rows as were taken, and each the frame that was sent. */
export async function checkLog(path: string, tallies: readonly Tally[]): Promise<LogFindings> {
  const faults: string[] = await integrity(path);
  const byName = new Map(tallies.map((tally) => [tally.name, { tally, rows: 0 }]));
  let [rows, ofHub, stale] = [0, 0, 0];
  const { storage, setAside } = await openStorage(path);
  if (setAside !== undefined) faults.push('the database was damaged');
  try {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page = await storage.tail({}, after, 1000, 8 * 1024 * 1024);
      for (const message of page.messages) {
        rows += 1;
        const own = byName.get(message.from);
        if (message.type === 'stale_result') stale += 1;
        else if (own !== undefined) own.rows += 1;
        else if (message.from === 'hub') ofHub += 1;
        else faults.push(`a row at ${message.lsn} is from ${message.from}`);
        const wrong = look(message, own?.tally);
        if (wrong !== undefined) faults.push(`row ${message.lsn}: ${wrong}: ${message.body.toString().slice(0, 300)}`);
        own?.tally.taken.delete(message.id);
      }
      after = page.next;
    }
  } finally {
    await storage.close();
  }
  for (const { tally, rows: found } of byName.values()) {
    if (found !== tally.rows) faults.push(`${tally.name}: ${tally.rows} frames were taken, ${found} are in the log`);
    for (const id of [...tally.taken.keys()].slice(0, 3))
      faults.push(`${tally.name}: ${id} was taken and is not in the log`);
  }
  const own = [...byName.values()].reduce((sum, entry) => sum + entry.rows, 0);
  const expected = tallies.reduce((sum, tally) => sum + tally.rows, 0);
  return { rows, own, expected, ofHub, stale, faults: faults.slice(0, 50) };
}

/** What is wrong with a row: another sender inside than outside, a key twice, or another content than was sent. */
function look(message: StoredMessage, tally: Tally | undefined): string | undefined {
  const text = message.body.toString();
  const body = JSON.parse(text) as Record<string, unknown>;
  if (/[\t\n\r]/.test(text)) return 'is more than one line';
  const sent = tally?.taken.get(message.id);
  if (body.from !== message.from || body.type !== message.type || body.to !== message.to)
    return 'says something else than its row';
  if (body.id !== message.id || body.task_id !== message.taskId) return 'has another id or task than its row';
  const words = [message.type, message.from, message.to, message.taskId];
  if (words.some((word) => !text.includes(`"${word}"`))) return 'is not found by what it says of itself';
  const twice = repeatedKey(text, depthOf(message.type));
  if (twice !== undefined) return `has the key ${twice} twice`;
  if (sent === undefined || sent.type !== message.type) return undefined;
  if (!isDeepStrictEqual(body.payload, sent.payload ?? null)) return 'has another payload than was sent';
  return undefined;
}

/** The first key that comes twice in an object at most `deepest` deep, by a reading of our own; keys count as what they mean, not as they are spelled. */
export function repeatedKey(text: string, deepest = 1): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (let place = 0; place < text.length; place += 1) {
    const char = text[place];
    if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : undefined);
      isKey = char === '{';
    } else if (char === '}' || char === ']') open.pop();
    else if (char === ',') isKey = open.at(-1) !== undefined;
    else if (char === '"') {
      const end = endOfString(text, place);
      if (isKey && open.length <= deepest) {
        const key = JSON.parse(text.slice(place, end + 1)) as string;
        if (open.at(-1)?.has(key)) return key;
        open.at(-1)?.add(key);
      }
      isKey = false;
      place = end;
    }
  }
  return undefined;
}

/** How deep a frame of this type may have no key twice: what the hub acts upon is clear to the bottom. */
export function depthOf(type: string): number {
  return type === 'route' || type === 'task.event' ? 1 : Number.POSITIVE_INFINITY;
}

function endOfString(text: string, start: number): number {
  for (let place = start + 1; place < text.length; place += 1) {
    if (text[place] === '\\') place += 1;
    else if (text[place] === '"') return place;
  }
  return text.length - 1;
}

async function integrity(path: string): Promise<string[]> {
  const database = await openDatabase(path);
  try {
    const rows = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    return rows.filter((row) => row.integrity_check !== 'ok').map((row) => `integrity_check: ${row.integrity_check}`);
  } finally {
    database.close();
  }
}
