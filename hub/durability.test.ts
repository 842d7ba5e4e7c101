import { once } from 'node:events';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { openDatabase } from '../base/sqlite.ts';
import { assign, crew, takeUp } from '../test/helpers/crew.ts';
import { join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { helloPeer } from '../test/helpers/peer.ts';
import { countLog, readLog, readTasks, startHub } from './index.ts';

async function hubProcess(database: string) {
  const child = execa('node', ['--import', 'tsx', 'test/helpers/hub-process.ts', database], {
    buffer: false,
    reject: false,
  });
  const [line] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  return { child, url: String(line).trim() };
}

test('R-HUB-13: what was accepted before kill -9 is there after the restart, and reaches its recipient', async () => {
  const database = join(await testFolder(), 'log.db');
  const { child, url } = await hubProcess(database);
  const a = (await helloPeer(url, 'a')).peer;
  const b = (await helloPeer(url, 'b')).peer;
  await b.close();
  let accepted = 0;
  a.socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    if (frame.type === 'accepted') accepted = frame.payload.upto - 1;
    if (accepted >= 200) child.kill('SIGKILL');
  });
  for (let count = 1; count <= 2000; count += 1) {
    a.send({ type: 'route', to: 'b', payload: count });
    if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await child;
  expect(accepted).toBeGreaterThanOrEqual(200);
  const hub = await testHub({ database });
  const back = await join1(hub, 'b');
  await back.wait(({ payload }) => payload === accepted);
  const numbers = back.frames.filter(({ type }) => type === 'route').map(({ payload }) => payload);
  expect(numbers.slice(0, accepted)).toEqual(Array.from({ length: accepted }, (_, index) => index + 1));
});

async function filledLog(): Promise<string> {
  const database = join(await testFolder(), 'log.db');
  const hub = await startHub({ port: 0, database, log: silentLog() });
  const a = await join1(hub, 'a');
  for (let count = 0; count < 50; count += 1) {
    a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted', text: 'x'.repeat(2000) } } });
  }
  await a.ping();
  await hub.close();
  return database;
}

test.for([
  ['overwritten', async (path: string) => writeFile(path, 'this is no database at all'.repeat(500))],
  ['cut', async (path: string) => truncate(path, 30_000)],
  [
    'torn in the middle',
    async (path: string) => {
      const bytes = await readFile(path);
      bytes.fill(0xff, 4096, bytes.length - 4096);
      await writeFile(path, bytes);
    },
  ],
] as const)('R-HUB-14: a database that is %s is set aside, reported, and a new one begun', async ([, damage]) => {
  const database = await filledLog();
  await damage(database);
  const before = await readFile(database);
  const hub = await testHub({ database });
  expect(hub.setAside).toMatch(/log\.db\.corrupt-/);
  expect(await readFile(hub.setAside ?? '')).toEqual(before);
  const a = await join1(hub, 'a');
  a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted' } } });
  await a.next('accepted');
  expect(await countLog(database)).toBe(1);
});

test('R-HUB-14: a torn write-ahead log loses nothing that was written before the tear', async () => {
  const folder = await testFolder();
  const database = join(folder, 'log.db');
  const { child, url } = await hubProcess(database);
  const a = (await helloPeer(url, 'a')).peer;
  for (let count = 1; count <= 20; count += 1) {
    a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted', count } } });
    await a.next('accepted');
  }
  child.kill('SIGKILL');
  await child;
  expect(await readdir(folder)).toContain('log.db-wal');
  const wal = join(folder, 'log.db-wal');
  await truncate(wal, (await readFile(wal)).length - 1500);
  const hub = await testHub({ database });
  expect(hub.setAside).toBeUndefined();
  const counts = [];
  for await (const frame of readLog(database)) counts.push((frame.payload as { event: { count: number } }).event.count);
  expect(counts).toEqual(Array.from({ length: counts.length }, (_, index) => index + 1));
  expect(counts.length).toBeGreaterThanOrEqual(18);
});

test('R-HUB-14: a database of a newer version is left alone', async () => {
  const database = await filledLog();

  const raw = await openDatabase(database);
  raw.exec('PRAGMA user_version = 99');
  raw.close();
  await expect(testHub({ database })).rejects.toMatchObject({ code: 'misconfigured' });
});

test('R-HUB-13: when the log cannot be written nobody is told "accepted", everybody is sent away, and the hub says why', async () => {
  const database = join(await testFolder(), 'log.db');
  const hub = await testHub({ database });
  const a = await join1(hub, 'a');
  const other = await openDatabase(database);
  other.exec("CREATE TRIGGER full BEFORE INSERT ON batch BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  other.close();
  a.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted' } } });
  await a.end();
  expect(a.frames.filter(({ type }) => type === 'accepted')).toEqual([]);
  expect(String(await hub.failed)).toContain('disk full');
});

test('R-HUB-13: a hub that is told to end leaves work with those who have it', async () => {
  const database = join(await testFolder(), 'log.db');
  const hub = await startHub({ port: 0, database, log: silentLog() });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  await hub.close();
  expect(await readTasks(database)).toMatchObject([
    { task_id: 't1', sub_state: 'working', agent: 'coder-1', attempt: 1 },
  ]);
});
