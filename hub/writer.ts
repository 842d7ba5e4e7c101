import { AppError } from '../base/errors.ts';
import type { Database } from '../base/sqlite.ts';
import { taskColumns, taskValues } from './rows.ts';
import type { Change } from './storage.ts';

/** Builds the one function that writes, with its statements prepared once: all changes in one transaction, or none. */
export function writer(database: Database): (changes: readonly Change[], ts: number) => number[] {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const addMessage = database.prepare(
    'INSERT INTO log (ts, type, src, dst, box, task_id, id, attempt, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const marks = taskColumns.map(() => '?').join(', ');
  const addTask = database.prepare(`INSERT INTO task (${taskColumns.join(', ')}) VALUES (${marks})`);
  const setTask = database.prepare(
    `UPDATE task SET (${taskColumns.join(', ')}) = (${marks}) WHERE task_id = ? AND attempt = ? AND sub_state = ?`,
  );
  const setSession = database.prepare(
    'INSERT OR REPLACE INTO session (name, session, token_hash, acked) VALUES (?, ?, ?, ?)',
  );
  const forgetSession = database.prepare('DELETE FROM session WHERE name = ?');
  const addDead = database.prepare(
    'INSERT OR IGNORE INTO dead (lsn, box, reason, died_at) SELECT lsn, box, ?, ? FROM log WHERE box = ? AND lsn > ? AND lsn <= ?',
  );
  const dropDead = database.prepare('DELETE FROM dead WHERE lsn = ?');
  const setCursor = database.prepare('UPDATE session SET acked = ? WHERE name = ?');
  const apply = (change: Change, ts: number, lsns: number[]) => {
    switch (change.kind) {
      case 'message': {
        const { row } = change;
        const done = addMessage.run(
          ts,
          row.type,
          row.from,
          row.to,
          row.box,
          row.taskId,
          row.id,
          row.attempt,
          row.body.length,
          row.body.toString(),
        );
        lsns.push(Number(done.lastInsertRowid));
        return;
      }
      case 'task': {
        const { task, expect } = change;
        if (expect === null) addTask.run(...taskValues(task));
        else if (setTask.run(...taskValues(task), task.taskId, expect.attempt, expect.subState).changes !== 1) {
          throw new AppError('internal', `task ${task.taskId} does not stand at ${expect.subState}/${expect.attempt}`);
        }
        return;
      }
      case 'session':
        setSession.run(change.session.name, change.session.session, change.session.tokenHash, change.session.acked);
        return;
      case 'forget_session':
        forgetSession.run(change.name);
        return;
      case 'dead':
        addDead.run(change.reason, ts, change.box, change.after, change.upto);
        return;
      case 'drop_dead':
        for (const lsn of change.lsns) dropDead.run(lsn);
        return;
      case 'cursor':
        setCursor.run(change.acked, change.name);
        return;
      default:
        change satisfies never;
    }
  };
  return (changes, ts) => {
    const lsns: number[] = [];
    begin.run();
    try {
      for (const change of changes) apply(change, ts, lsns);
      commit.run();
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
    return lsns;
  };
}
