import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../base/sqlite.ts';
import { testFolder } from '../../test/helpers/hub.ts';
import { allOf } from '../../test/helpers/storage-conformance/opened.ts';
import { message, messages, session, task } from '../../test/helpers/storage-conformance/rows.ts';
import { openStorage } from '../sqlite-storage.ts';
import { migrate } from './schema.ts';
import { sqliteStorage } from './store.ts';

const COMMITS = 30;

/** What the files of a log are whose hub was killed: commit n brought n messages, and all is in the write-ahead log. */
async function killedLog(): Promise<{ database: Buffer; wal: Buffer }> {
  const folder = await testFolder();
  const { storage } = await openStorage(join(folder, 'log.db'));
  await storage.commit([session('b')], 1);
  for (let turn = 1; turn <= COMMITS; turn += 1) {
    await storage.commit(
      messages(turn, (index) => ({ box: 'b', taskId: 'run', payload: `${turn} ${index} ${'x'.repeat(200)}` })),
      turn,
    );
  }
  const files = { database: await readFile(join(folder, 'log.db')), wal: await readFile(join(folder, 'log.db-wal')) };
  await storage.close();
  return files;
}

/** What is left must be the first commits, whole ones; and the log goes on. */
async function expectPrefix(files: { database: Buffer; wal: Buffer }, atLeast: number): Promise<number> {
  const path = join(await testFolder(), 'log.db');
  await writeFile(path, files.database);
  await writeFile(`${path}-wal`, files.wal);
  const { storage, setAside } = await openStorage(path);
  expect(setAside).toBeUndefined();
  const found = (await allOf(storage)).map(({ ts, body }) => [
    ts,
    (JSON.parse(String(body)).payload as string).split(' ').slice(0, 2).join(' '),
  ]);
  const commits = Number(found.at(-1)?.[0] ?? 0);
  const expected = Array.from({ length: commits }, (_, turn) =>
    Array.from({ length: turn + 1 }, (_, index) => [turn + 1, `${turn + 1} ${index}`]),
  ).flat();
  expect(found).toEqual(expected);
  expect(commits).toBeGreaterThanOrEqual(atLeast);
  expect((await storage.mailboxFacts('b', 0)).depth).toBe(expected.length);
  const [lsn] = await storage.commit([message({ payload: 'after' })], 1000);
  await storage.close();
  const again = (await openStorage(path)).storage;
  expect((await again.latest({}, 1))[0]).toMatchObject({ lsn, ts: 1000 });
  expect(await allOf(again)).toHaveLength(expected.length + 1);
  await again.close();
  return commits;
}

test('R-HUB-43: a write-ahead log that is torn at any byte keeps every commit before the tear, and goes on', async () => {
  const { database, wal: whole } = await killedLog();
  // A frame of the write-ahead log is 24 bytes and a page, its header 32 bytes.
  const frame = 4096 + 24;
  const cuts = [
    whole.length,
    whole.length - 1,
    whole.length - frame,
    whole.length - frame - 1,
    Math.floor(whole.length / 2),
    32 + 20 * frame + 12,
    32 + 20 * frame,
    33,
    32,
    7,
    0,
  ];
  const kept = [];
  for (const cut of cuts) {
    kept.push(await expectPrefix({ database, wal: whole.subarray(0, cut) }, cut === whole.length ? COMMITS : 0));
  }
  expect(kept).toEqual([...kept].sort((x, y) => y - x));
  expect(kept[1]).toBeGreaterThanOrEqual(COMMITS - 1);
});

test('R-HUB-43: where bytes of a write-ahead log are turned or are zeros, what was committed before them is kept', async () => {
  const { database, wal: whole } = await killedLog();
  for (const [at, length, byte] of [
    [whole.length - 3000, 1, 0x55],
    [Math.floor(whole.length * 0.7), 1, 0x00],
    [Math.floor(whole.length / 2), 10_000, 0],
    [Math.floor(whole.length / 3), 4, 0xff],
  ] as const) {
    const bytes = Buffer.from(whole);
    bytes.fill(byte, at, at + length);
    const kept = await expectPrefix({ database, wal: bytes }, 1);
    expect(kept).toBeLessThanOrEqual(COMMITS);
  }
});

/** A closed log of some hundred pages. */
async function closedLog(): Promise<string> {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  for (let turn = 0; turn < 60; turn += 1)
    await storage.commit(
      messages(30, () => ({ taskId: `t${turn}`, box: 'b', payload: 'x'.repeat(300) })),
      turn,
    );
  await storage.commit([{ kind: 'task', task: task('t1'), expect: null }], 99);
  await storage.close();
  return path;
}

test.for([
  ['cut in the middle of a page', async (path) => truncate(path, (await stat(path)).size - 5000)],
  ['cut to its first page', async (path) => truncate(path, 4096)],
  ['cut to less than its header', async (path) => truncate(path, 50)],
  ['foreign', async (path) => writeFile(path, '{"type":"mess\n'.repeat(3000))],
  ['zeros', async (path) => writeFile(path, Buffer.alloc(100_000))],
  ['zeros in the middle', (path) => overwrite(path, 0x00, 8 * 4096, 40 * 4096)],
  ['turned in one page', (path) => overwrite(path, 0xa5, 5 * 4096, 5 * 4096 + 400)],
] satisfies [string, (path: string) => Promise<void>][])(
  'R-HUB-43: a database that is %s is set aside as it is, with what belongs to it, and a new one is begun',
  async ([, damage]) => {
    const path = await closedLog();
    await damage(path);
    await writeFile(`${path}-wal`, 'what belongs to it');
    const before = await readFile(path);
    const { storage, setAside } = await openStorage(path);
    expect(setAside).toMatch(/log\.db\.corrupt-/);
    expect((await readFile(setAside ?? '')).equals(before)).toBe(true);
    expect(await allOf(storage)).toEqual([]);
    await storage.commit([message()], 1);
    await storage.close();
    expect(await allOf((await openStorage(path)).storage)).toHaveLength(1);
    expect((await readdir(join(path, '..'))).filter((name) => name.includes('.corrupt-')).length).toBeGreaterThan(1);
  },
);

async function overwrite(path: string, byte: number, from: number, to: number): Promise<void> {
  const bytes = await readFile(path);
  bytes.fill(byte, from, to);
  await writeFile(path, bytes);
}

test('R-HUB-44: when the disk is full a commit leaves nothing, says so, and its numbers are given to the next', async () => {
  const path = join(await testFolder(), 'log.db');
  const database = await openDatabase(path);
  migrate(database);
  const storage = sqliteStorage(database);
  const [last = 0] = await storage.commit([session('b'), message({ box: 'b' })], 1);
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
  database.exec(`PRAGMA max_page_count = ${pages + 4}`);
  const large = [
    message({ box: 'b', payload: 'x'.repeat(100_000) }),
    { kind: 'cursor', name: 'b', acked: last } as const,
  ];
  for (const changes of [large, large.slice(0, 1)]) {
    await expect(storage.commit(changes, 2)).rejects.toMatchObject({ code: 'disk_full' });
  }
  expect(await allOf(storage)).toHaveLength(1);
  expect((await storage.sessions())[0]?.acked).toBe(0);
  expect(await storage.lastLsn()).toBe(last);
  database.exec('PRAGMA max_page_count = 1000000');
  expect(await storage.commit(large, 3)).toEqual([last + 1]);
  await storage.close();
});

test('R-HUB-44: a folder that cannot be written to, or is none, is told in words', async () => {
  const folder = await testFolder();
  await expect(openStorage(join(folder, 'not', 'there', 'log.db'))).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining(join(folder, 'not', 'there')),
  });
  await mkdir(join(folder, 'log.db'));
  await expect(openStorage(join(folder, 'log.db'))).rejects.toMatchObject({ code: 'misconfigured' });
});

test.each(['"payload":"3 ', '[[1,'])(
  'R-HUB-43: a log in which a byte is wrong that SQLite does not look at is set aside (%s)',
  async (place) => {
    const path = join(await testFolder(), 'log.db');
    const { storage } = await openStorage(path);
    for (let turn = 1; turn <= 5; turn += 1) {
      await storage.commit(
        messages(turn, (index) => ({ box: 'b', payload: `${turn} ${index}` })),
        turn,
      );
    }
    await storage.close();
    const bytes = await readFile(path);
    const at = bytes.indexOf(place);
    expect(at).toBeGreaterThan(0);
    bytes[at] = 0;
    await writeFile(path, bytes);
    const { storage: fresh, setAside } = await openStorage(path);
    expect(await readFile(setAside ?? '')).toEqual(bytes);
    expect(await allOf(fresh)).toEqual([]);
    await fresh.close();
  },
);
