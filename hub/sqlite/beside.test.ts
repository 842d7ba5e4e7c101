import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { testFolder } from '../../test/helpers/hub.ts';
import { message, messages } from '../../test/helpers/storage-conformance/rows.ts';
import { openStorage } from '../sqlite-storage.ts';
import { Beside, startLogThread } from './beside.ts';

/** A thread that dies of whatever it is asked. */
const deadly = "require('worker_threads').parentPort.on('message', () => process.exit(3))";

async function filled() {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  for (let turn = 0; turn < 40; turn += 1)
    await storage.commit(
      messages(50, () => ({ taskId: 'run', payload: 'x'.repeat(500) })),
      turn,
    );
  return { path, storage };
}

test('R-HUB-45: a long read leaves the thread of the hub free, and sees what was committed before it began', async () => {
  const { storage } = await filled();
  const [lsn] = await storage.commit([message({ type: 'rare' })], 99);
  for (let turn = 0; turn < 20; turn += 1) await storage.commit(messages(50), 100 + turn);
  let turns = 0;
  let done = false;
  const found = storage.latest({ type: 'rare' }, 10).finally(() => {
    done = true;
  });
  while (!done) {
    turns += 1;
    await setImmediate();
  }
  expect((await found).map((one) => one.lsn)).toEqual([lsn]);
  expect(turns).toBeGreaterThan(10);
  await storage.close();
});

test('R-HUB-45: answers come in the order of the questions, and those that are left when the log is closed are refused', async () => {
  const { storage } = await filled();
  const order: number[] = [];
  const asked = [3, 1, 2].map((number) =>
    storage.tail({ type: `t${number}` }, 0, 10, 1000).then(() => order.push(number)),
  );
  await Promise.all(asked);
  expect(order).toEqual([3, 1, 2]);
  const late = storage.tail({ type: 'nothing' }, 0, 10, 1000);
  const closing = storage.close();
  await expect(late).rejects.toMatchObject({ code: 'cancelled' });
  await closing;
});

test('R-HUB-45: a thread that dies is replaced, and what was asked is answered', async () => {
  const { path, storage } = await filled();
  let started = 0;
  const start = (path: string, shared: Int32Array) => {
    started += 1;
    return started === 1 ? new Worker(deadly, { eval: true }) : startLogThread(path, shared);
  };
  const beside = new Beside(path, { start });
  const bounds = { limit: 5, maxBytes: 10_000, end: 2000 };
  const [first, second] = [beside.tail({}, 0, bounds), beside.pageBack({}, 2001, 3, 1e9)];
  expect((await first).messages).toHaveLength(5);
  expect((await second).messages).toHaveLength(3);
  expect(started).toBe(2);
  await beside.close();
  await storage.close();
});

test('R-HUB-45: what two threads died of is refused, and what comes after it is answered', async () => {
  const { path, storage } = await filled();
  let started = 0;
  const start = (path: string, shared: Int32Array) => {
    started += 1;
    return started <= 2 ? new Worker(deadly, { eval: true }) : startLogThread(path, shared);
  };
  const beside = new Beside(path, { start });
  const bounds = { limit: 5, maxBytes: 10_000, end: 2000 };
  const [first, second] = [beside.tail({}, 0, bounds), beside.pageBack({}, 2001, 3, 1e9)];
  await expect(first).rejects.toMatchObject({ code: 'internal' });
  expect((await second).messages).toHaveLength(3);
  await beside.close();
  await storage.close();
});

test('R-HUB-45: a thread that is asked nothing for a while ends, and the next question goes to another one', async () => {
  const { path, storage } = await filled();
  const threads: Worker[] = [];
  const start = (path: string, shared: Int32Array) => {
    const thread = startLogThread(path, shared);
    threads.push(thread);
    return thread;
  };
  const beside = new Beside(path, { start, restMs: 20 });
  const ask = () => beside.tail({}, 0, { limit: 5, maxBytes: 10_000, end: 2000 });
  await ask();
  const code = await once(threads[0] as Worker, 'exit');
  expect(code).toEqual([0]);
  const [first, second] = await Promise.all([ask(), ask()]);
  expect([first.messages, second.messages].map(({ length }) => length)).toEqual([5, 5]);
  expect(threads).toHaveLength(2);
  await beside.close();
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  await storage.close();
});

test('R-HUB-45: the thread beside the log loads no schemas, which would double the memory it takes', () => {
  const loaded = modulesOf(new URL('./log-thread.ts', import.meta.url));
  expect(loaded.size).toBeGreaterThan(10);
  expect([...loaded].filter((name) => name.includes('zod') || name.endsWith('protocol/index.ts'))).toEqual([]);
});

/** What a module loads, and what that loads in turn; imports of types load nothing. */
function modulesOf(file: URL, seen = new Set<string>()): Set<string> {
  seen.add(String(file));
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type )[^;]*? from '(.+)';$/gm,
  )) {
    if (!name.startsWith('.')) seen.add(name);
    else if (!seen.has(String(new URL(name, file)))) modulesOf(new URL(name, file), seen);
  }
  return seen;
}
