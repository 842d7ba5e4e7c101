/** A large log, and how long it takes to look something up in it. */
import { join } from 'node:path';
import { readLog } from '../../hub/index.ts';
import { openStorage } from '../../hub/sqlite-storage.ts';
import type { LogPage, Storage } from '../../hub/storage.ts';
import { answer, settings } from '../answer.ts';
import { quantile } from '../statistics.ts';
import { fillLog, NAMES, taskName } from './fill-log.ts';

const { folder } = settings<{ folder: string }>();
const path = join(folder, 'log.db');

let storage: Storage;
let tasks = 0;

/** What is looked up, each with something else at every call. */
const queries = {
  'story of one task': async () => {
    const filter = story();
    let count = 0;
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page: LogPage = await storage.tail(filter, next, 500, 4 * 1024 * 1024);
      count += page.messages.length;
      next = page.next;
    }
    return count;
  },
  'story of one task, as npc-crew log reads it': async () => {
    let count = 0;
    for await (const _frame of readLog(path, story())) count += 1;
    return count;
  },
  'tail of 100': async () => (await storage.latest({}, 100)).length,
  'page of a mailbox': async () =>
    (await storage.mailbox(pick(NAMES), Math.floor(Math.random() * (await storage.lastLsn())), 64)).length,
};
export type Query = keyof typeof queries;

const handlers = {
  /** Writes the log; resolves to how many tasks there are. */
  fill: async (messages: number): Promise<{ tasks: number; seconds: number }> => {
    const begun = performance.now();
    ({ storage } = await openStorage(path));
    tasks = await fillLog(storage, messages);
    return { tasks, seconds: (performance.now() - begun) / 1000 };
  },
  /** Times of one query, in ms, and how many messages it found at the median. */
  time: async ({ query, rounds }: { query: Query; rounds: number }) => {
    const times: number[] = [];
    const found: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      found.push(await queries[query]());
      times.push(performance.now() - begun);
    }
    return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), found: quantile(found, 0.5) };
  },
  queries: () => Object.keys(queries) as Query[],
};
export type QueriesHandlers = typeof handlers;

function story() {
  return { taskId: taskName(Math.floor(Math.random() * tasks)), tree: true };
}

function pick(list: readonly string[]): string {
  return list[Math.floor(Math.random() * list.length)] as string;
}

answer(handlers, () => storage?.close());
