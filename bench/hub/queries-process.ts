/** A large log, and how long it takes to look something up in it. */
import { join } from 'node:path';
import { readLog } from '../../hub/index.ts';
import { openStorage } from '../../hub/sqlite-storage.ts';
import type { LogPage, Storage } from '../../hub/storage.ts';
import { answer, settings } from '../answer.ts';
import { quantile } from '../statistics.ts';
import { fillLog, NAMES, taskName } from './fill-log.ts';

/** How long one look-up is repeated, ms. */
const AT_MOST = 10_000;

const { folder } = settings<{ folder: string }>();
const path = join(folder, 'log.db');

let storage: Storage | undefined;
let tasks = 0;
let port = 0;

/** What is looked up, each with something else at every call; resolves to how many messages were found. */
const queries = {
  'story of one task': async () => {
    const task = anyTask();
    let count = 0;
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page: LogPage = await open().tail({ taskId: task, tree: true }, next, 500, 4 * 1024 * 1024);
      count += page.messages.length;
      next = page.next;
    }
    return count;
  },
  'tail of 100': async () => (await open().latest({}, 100)).length,
  'page of a mailbox': async () => (await open().mailbox(anyName(), await anyPosition(), 64)).length,
  'story of one task, from the file': async () => {
    let count = 0;
    for await (const _frame of readLog(path, { taskId: anyTask(), tree: true })) count += 1;
    return count;
  },
  'story of one task, by HTTP': () => countLines(`/v1/log?tree=1&task_id=${anyTask()}`),
  'timeline of one task, by HTTP': async () => {
    const { frames } = JSON.parse(await get(`/v1/tasks/${anyTask()}/timeline`)) as { frames: unknown[] };
    return frames.length;
  },
  'tail of 100, by HTTP': () => countLines('/v1/log?last=100'),
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
  /** Lets go of the log, so that a hub can take it up. */
  release: async () => {
    await storage?.close();
    storage = undefined;
  },
  /** Where the hub is that is asked by HTTP. */
  useHub: (at: number) => {
    port = at;
  },
  /** Times of one query, in ms, and how many messages it found at the median. */
  time: async ({ query, rounds }: { query: Query; rounds: number }) => {
    const times: number[] = [];
    const found: number[] = [];
    const end = performance.now() + AT_MOST;
    for (let round = 0; round < rounds && performance.now() < end; round += 1) {
      const begun = performance.now();
      found.push(await queries[query]());
      times.push(performance.now() - begun);
    }
    return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), found: quantile(found, 0.5) };
  },
};
export type QueriesHandlers = typeof handlers;

function open(): Storage {
  if (storage === undefined) throw new Error('the log is not open');
  return storage;
}

async function countLines(address: string): Promise<number> {
  return (await get(address)).split('\n').length - 1;
}

async function get(address: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${address}`);
  if (!response.ok) throw new Error(`${address}: ${response.status} ${await response.text()}`);
  return response.text();
}

function anyTask(): string {
  return taskName(Math.floor(Math.random() * tasks));
}

function anyName(): string {
  return NAMES[Math.floor(Math.random() * NAMES.length)] as string;
}

async function anyPosition(): Promise<number> {
  return Math.floor(Math.random() * (await open().lastLsn()));
}

answer(handlers, () => storage?.close());
