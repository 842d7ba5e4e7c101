import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readLog, readTasks } from '../../hub/index.ts';
import type { RunEvent, TaskRow } from '../../protocol/index.ts';

/** Long enough for a loaded machine; what is waited for comes much sooner. */
const patience = { timeout: 40_000, interval: 50 };

/** Waits until the log of the run in `state` holds an event of this type that fits, and returns it. */
export async function eventOf<T extends RunEvent['type']>(
  state: string,
  type: T,
  fits: (event: Extract<RunEvent, { type: T }>) => boolean = () => true,
): Promise<Extract<RunEvent, { type: T }>> {
  let found: Extract<RunEvent, { type: T }> | undefined;
  await expect
    .poll(async () => {
      found = (await eventsIn(state, type)).find(fits);
      return found?.type;
    }, patience)
    .toBe(type);
  return found as Extract<RunEvent, { type: T }>;
}

/** Events of one type that the log of the run in `state` holds by now; none while there is no log. */
async function eventsIn<T extends RunEvent['type']>(state: string, type: T): Promise<Extract<RunEvent, { type: T }>[]> {
  const found: Extract<RunEvent, { type: T }>[] = [];
  if (!existsSync(join(state, 'log.db'))) return found;
  for await (const frame of readLog(join(state, 'log.db'))) {
    const event = frame.type === 'task.event' ? (frame.payload as { event: RunEvent }).event : undefined;
    if (event?.type === type) found.push(event as Extract<RunEvent, { type: T }>);
  }
  return found;
}

/** The row of a run's task, by the end of its id. */
export async function rowOf(state: string, ending: string): Promise<TaskRow | undefined> {
  return (await readTasks(join(state, 'log.db'))).find(({ task_id }) => task_id.endsWith(ending));
}

/** Waits until `look` is true. */
export async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(look, patience).toBe(true);
}

/** Command lines of living processes that name `folder` in their arguments or environment, or work in it; by pid. */
export async function processesOf(folder: string): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '');
    const command = await read('cmdline');
    const place = await readlink(`/proc/${name}/cwd`).catch(() => '');
    const signs = [command, place, await read('environ')];
    if (signs.some((sign) => sign.includes(folder))) found.set(Number(name), command.replaceAll('\0', ' '));
  }
  return found;
}
