import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../base/sqlite.ts';
import { Packer } from './batch.ts';
import { CHUNK } from './index-chunk.ts';
import { statements } from './statements.ts';
import { transactions } from './transactions.ts';

interface OldRow {
  readonly lsn: number;
  readonly ts: number;
  readonly box: string | null;
  readonly body: string;
}

/**
 * Packs the rows of an earlier version into batches: in pieces, each of which stays done, so that it goes on after a crash.
 * `progress` hears how many of how many are done.
 */
export async function packOldRows(database: Database, progress: (done: number, of: number) => void): Promise<void> {
  if (!hasOldRows(database)) return;
  const prepare = statements(database);
  const transaction = transactions(database);
  const { of } = database.prepare('SELECT count(*) AS "of" FROM old_log').get() as { of: number };
  const next = database.prepare('SELECT lsn, ts, box, body FROM old_log ORDER BY lsn LIMIT ?');
  const add = database.prepare('INSERT INTO batch (first, ts, count, marks, frames) VALUES (?, ?, ?, ?, ?)');
  const packer = new Packer();
  for (let done = 0; done < of; ) {
    const rows = atMost(next.all(CHUNK.messages) as unknown as OldRow[], CHUNK.bytes);
    transaction(() => {
      for (const { ts, first, bodies } of commitsOf(rows)) {
        for (const batch of packer.pack(bodies, first, ts)) {
          add.run(batch.first, ts, batch.count, batch.marks, batch.frames);
        }
      }
      prepare('DELETE FROM old_log WHERE lsn <= ?').run(rows.at(-1)?.lsn ?? 0);
    });
    done += rows.length;
    progress(done, of);
    await setImmediate();
  }
  database.exec('DROP TABLE old_log');
}

/** Whether an earlier version's rows are still there, some of them perhaps packed already. */
function hasOldRows(database: Database): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'old_log'").get() !== undefined;
}

function atMost(rows: readonly OldRow[], bytes: number): OldRow[] {
  let room = bytes;
  return rows.filter(({ body }, index) => {
    const taken = index === 0 || room > 0;
    room -= body.length;
    return taken;
  });
}

/** Rows that follow each other and were committed at the same time. */
function commitsOf(
  rows: readonly OldRow[],
): { ts: number; first: number; bodies: { box: string | null; body: Buffer }[] }[] {
  const commits: ReturnType<typeof commitsOf> = [];
  for (const { lsn, ts, box, body } of rows) {
    const commit = commits.at(-1);
    const row = { box, body: Buffer.from(body) };
    if (commit?.ts === ts && commit.first + commit.bodies.length === lsn) commit.bodies.push(row);
    else commits.push({ ts, first: lsn, bodies: [row] });
  }
  return commits;
}
