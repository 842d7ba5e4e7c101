import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../base/sqlite.ts';
import { openStorage } from '../../hub/sqlite-storage.ts';
import { checkMessages, type MessageFindings } from './check-messages.ts';
import { checkTasks, type TaskFindings } from './check-tasks.ts';
import { gather, nameOf, type Places } from './remains.ts';

/** Figures of a run, and what should not be. */
export interface Findings extends MessageFindings, TaskFindings {
  readonly faults: readonly string[];
}

/** Looks through what a run left behind. */
export async function check(places: Places): Promise<Findings> {
  const { folder, database } = places;
  const faults: string[] = [...complaints(join(folder, 'hub.jsonl'))];
  faults.push(...(await integrity(database)));
  const { storage } = await openStorage(database);
  try {
    const remains = await gather(storage, places);
    for (const life of [...remains.lives.values()].flat()) {
      for (const entry of life.entries) if (entry.e === 'fault') faults.push(`${nameOf(life)}: ${entry.message}`);
    }
    const messages = checkMessages(remains, faults);
    const tasks = checkTasks(remains, faults);
    return { ...messages, ...tasks, faults };
  } finally {
    await storage.close();
  }
}

/** What the hub's own diagnostics call an error. */
function complaints(path: string): string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'));
  return lines
    .filter((line) => (JSON.parse(line) as { level: number }).level >= 50)
    .map((line) => `the hub complained: ${line.slice(0, 600)}`);
}

async function integrity(path: string): Promise<string[]> {
  const database = await openDatabase(path, { readOnly: true });
  try {
    const rows = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    return rows.filter((row) => row.integrity_check !== 'ok').map((row) => `integrity_check: ${row.integrity_check}`);
  } finally {
    database.close();
  }
}
