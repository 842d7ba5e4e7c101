import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { Database } from '../../base/sqlite.ts';

/** Each entry brings a database from its index to the next version (`user_version`). Entries are never edited, only added. */
const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE log (
    lsn INTEGER PRIMARY KEY AUTOINCREMENT,
    ts INTEGER NOT NULL, type TEXT NOT NULL, src TEXT NOT NULL, dst TEXT NOT NULL, box TEXT,
    task_id TEXT NOT NULL, id TEXT NOT NULL, attempt INTEGER, bytes INTEGER NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX log_task ON log (task_id, lsn) WHERE task_id <> '';
  CREATE INDEX log_box ON log (box, lsn) WHERE box IS NOT NULL;
  CREATE TABLE task (
    task_id TEXT PRIMARY KEY, owner TEXT NOT NULL, target TEXT NOT NULL, sub_state TEXT NOT NULL,
    attempt INTEGER NOT NULL, losses INTEGER NOT NULL, agent TEXT, session TEXT, reason TEXT, parent TEXT,
    priority INTEGER NOT NULL, max_attempts INTEGER NOT NULL, silence_ms INTEGER NOT NULL, attempt_ms INTEGER NOT NULL,
    assign_id TEXT, result_id TEXT, deadline INTEGER, checkpoint TEXT, summary TEXT,
    created INTEGER NOT NULL, updated INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE session (
    name TEXT PRIMARY KEY, session TEXT NOT NULL, token_hash TEXT NOT NULL, acked INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  `
  CREATE TABLE dead (lsn INTEGER PRIMARY KEY, box TEXT NOT NULL, reason TEXT NOT NULL, died_at INTEGER NOT NULL);
  `,
  // The rows of the log wait in old_log until they are packed into batches.
  `
  ALTER TABLE log RENAME TO old_log;
  DROP INDEX log_task;
  DROP INDEX log_box;
  CREATE TABLE batch (
    first INTEGER PRIMARY KEY, ts INTEGER NOT NULL, count INTEGER NOT NULL, marks TEXT NOT NULL, frames BLOB NOT NULL
  );
  CREATE TABLE chunk (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, ts INTEGER NOT NULL);
  CREATE TABLE chunk_ids (chunk INTEGER PRIMARY KEY, ids TEXT NOT NULL);
  CREATE TABLE position (
    kind TEXT, key TEXT, chunk INTEGER, last INTEGER NOT NULL, count INTEGER NOT NULL, bytes INTEGER NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (kind, key, chunk)
  ) WITHOUT ROWID;
  CREATE INDEX task_created ON task (created, task_id);
  INSERT INTO meta SELECT 'last_lsn', seq FROM sqlite_sequence WHERE name = 'old_log';
  CREATE VIEW log AS
    SELECT lsn, ts, body ->> 'type' AS type, body ->> 'from' AS src, body ->> 'to' AS dst, box,
      body ->> 'task_id' AS task_id, body ->> 'id' AS id, body ->> 'attempt' AS attempt, bytes, body
    FROM (
      SELECT batch.first + mark.key AS lsn, ts, mark.value ->> 1 AS bytes, mark.value ->> 2 AS box,
        CAST(substr(frames, 1 + (mark.value ->> 0), mark.value ->> 1) AS TEXT) AS body
      FROM batch, json_each(marks) AS mark
      LIMIT -1
    );
  `,
  // Dead letters that were taken off the list.
  `
  CREATE TABLE dropped (lsn INTEGER PRIMARY KEY);
  `,
  // Messages are found by their type, too; chunks that are there get theirs piece by piece.
  `
  ALTER TABLE chunk ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX chunk_untyped ON chunk (first) WHERE typed = 0;
  `,
  // What attempts leave is large and seldom read: no list of tasks has to read past it. And tasks are found by their state.
  `
  CREATE TABLE checkpoint (task_id TEXT PRIMARY KEY, value TEXT NOT NULL);
  INSERT INTO checkpoint SELECT task_id, checkpoint FROM task
    WHERE checkpoint IS NOT NULL AND sub_state NOT IN ('done', 'failed', 'cancelled', 'dead');
  ALTER TABLE task DROP COLUMN checkpoint;
  CREATE INDEX task_state ON task (sub_state, created, task_id);
  `,
];

/** Version of the schema that this program reads. */
export const schemaVersion = migrations.length;

/** Brings the schema up to date. Throws when the file is damaged or was written by a newer program. */
export function migrate(database: Database): void {
  const row = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (row.user_version > migrations.length) {
    throw new AppError(
      'misconfigured',
      'this log was written by a newer version of npc-crew; use that one, or another folder',
    );
  }
  for (let version = row.user_version; version < migrations.length; version += 1) {
    database.exec(`BEGIN; ${migrations[version]} PRAGMA user_version = ${version + 1}; COMMIT`);
  }
}

/** The epoch of this database, drawn when it was made. */
export function readEpoch(database: Database): string {
  database.prepare("INSERT OR IGNORE INTO meta VALUES ('epoch', ?)").run(randomUUID());
  const row = database.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string };
  return row.value;
}
