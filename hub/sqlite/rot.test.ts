import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../base/sqlite.ts';
import { join1, testFolder, testHub } from '../../test/helpers/hub.ts';
import { helloPeer } from '../../test/helpers/peer.ts';
import { allOf, mailOf } from '../../test/helpers/storage-conformance/opened.ts';
import { messages, session } from '../../test/helpers/storage-conformance/rows.ts';
import { openStorage } from '../sqlite-storage.ts';
import type { Storage } from '../storage.ts';

const COUNT = 1200;

/** A closed log whose first chunks are indexed: three mailboxes, one batch for each forty messages. */
async function longLog(): Promise<string> {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  await storage.commit([session('b'), session('c')], 1);
  for (let turn = 0; turn < COUNT / 40; turn += 1) {
    await storage.commit(
      messages(40, (index) => ({
        box: index % 2 ? 'b' : 'c',
        to: index % 2 ? 'b' : 'c',
        from: 'a',
        taskId: `t${turn % 3}`,
        payload: `${'x'.repeat(300)} ${turn * 40 + index + 1}`,
      })),
      turn,
    );
  }
  await storage.close();
  return path;
}

/** Turns bytes of a batch, of its marks, or of a row of the index. */
async function rot(path: string, sql: string): Promise<void> {
  const database = await openDatabase(path);
  expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
  database.close();
}

const someFrame = `UPDATE batch SET frames = CAST(replace(CAST(frames AS TEXT), '"type":"route","from":"a","to":"b","task_id":"t1","payload":"${'x'.repeat(300)} 42"', '"ty' || char(1) || 'e":"route","from":"a","to":"b","task_id":"t1","payload":"${'x'.repeat(300)} 42"') AS BLOB) WHERE first = 41`;
const marks = "UPDATE batch SET marks = '[[1,' WHERE first = 41";
const empty = 'UPDATE batch SET frames = zeroblob(length(frames)) WHERE first = 41';

const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);

async function expectReadable(storage: Storage, damaged: readonly number[]): Promise<void> {
  const all = await allOf(storage, {}, { limit: 500 });
  expect(all.map(({ lsn }) => lsn)).toEqual(numbers(COUNT));
  expect(all.filter((one) => one.damaged).map(({ lsn }) => lsn)).toEqual(damaged);
  const newest = await storage.latest({}, COUNT);
  expect(newest.filter((one) => one.damaged).map(({ lsn }) => lsn)).toEqual(damaged);
  const mail = await mailOf(storage, 'b', 0, 200);
  expect(mail.map(({ lsn }) => lsn)).toEqual(numbers(COUNT).filter((lsn) => lsn % 2 === 0));
  expect(mail.filter((one) => one.damaged).map(({ lsn }) => lsn)).toEqual(damaged.filter((lsn) => lsn % 2 === 0));
  expect((await storage.mailboxFacts('b', 0)).depth).toBe(COUNT / 2);
  expect((await storage.recentIds('a', COUNT)).length).toBe(COUNT);
  expect(await storage.at(damaged[0] ?? 1)).toMatchObject(damaged.length > 0 ? { damaged: true, from: 'hub' } : {});
}

test.for([
  ['a frame', someFrame, [42]],
  ['where frames lie', marks, numbers(40, 41)],
  ['all frames of a batch', empty, numbers(40, 41)],
  ['the index of a mailbox', "UPDATE position SET at = '[1,' WHERE kind = 'box' AND key = 'b' AND chunk = 1", []],
  ['the ids of a chunk', "UPDATE chunk_ids SET ids = '[\"' WHERE chunk = 1", []],
] satisfies [string, string, number[]][])(
  'R-HUB-116: of a log that is rotten in %s further back all else is read, and what cannot be is told in its place',
  async ([, sql, damaged]) => {
    const path = await longLog();
    await rot(path, sql);
    const { storage, setAside } = await openStorage(path);
    expect(setAside).toBeUndefined();
    await expectReadable(storage, damaged);
    if (damaged.length > 0) {
      const file = (await readdir(join(path, '..'))).find((name) => name.includes('.damaged-41'));
      await expect.poll(async () => (await stat(join(path, '..', file ?? ''))).size).toBeGreaterThan(10_000);
    }
    // Old messages can be deleted all the same.
    await storage.commit(
      [
        { kind: 'cursor', name: 'b', acked: COUNT },
        { kind: 'cursor', name: 'c', acked: COUNT },
      ],
      99,
    );
    expect(await storage.trim({ before: 10 })).toBe(400);
    expect((await mailOf(storage, 'b', 0, 200)).map(({ lsn }) => lsn)).toEqual(
      numbers(COUNT).filter((lsn) => lsn % 2 === 0 && lsn > 400),
    );
    await storage.close();
  },
);

test('R-HUB-116: a batch whose pages are no pages any more is passed over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-rot-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'log.db');
  const { storage: first } = await openStorage(path);
  await first.commit([session('b')], 1);
  for (let turn = 1; turn <= 12; turn += 1)
    await first.commit(
      messages(60, () => ({ box: 'b', to: 'b', payload: `${turn}: ${'y'.repeat(1000)}` })),
      turn,
    );
  await first.close();
  const { storage } = await openStorage(path);
  // A batch lies in a chain of pages, each of which begins with the number of the next.
  const bytes = await readFile(path);
  const page = Math.floor(bytes.indexOf('"payload":"3: yyyy') / 4096) + 4;
  bytes.fill(0xff, page * 4096, page * 4096 + 4);
  await writeFile(path, bytes);
  const all = await allOf(storage, {}, { limit: 500 });
  expect(all.map(({ lsn }) => lsn)).toEqual(numbers(720));
  const damaged = all.filter((one) => one.damaged).map(({ lsn }) => lsn);
  expect(damaged).toEqual(numbers(60, 121));
  const mail = await mailOf(storage, 'b', 0, 500);
  expect(mail.filter((one) => one.damaged).map(({ lsn }) => lsn)).toEqual(damaged);
  expect((await storage.latest({}, 720)).filter((one) => one.damaged)).toHaveLength(60);
  await storage.close();
});

test('R-HUB-116: a mailbox goes on behind what cannot be read, and its reader sees the gap', async () => {
  const path = await longLog();
  await rot(path, marks);
  const hub = await testHub({ database: path, limits: { rate: 0 } });
  const { peer } = await helloPeer(hub.url, 'b');
  const last = COUNT;
  const got = await peer.wait(({ seq }) => seq === last);
  expect(got).toMatchObject({ type: 'route' });
  const seqs = peer.frames.flatMap(({ type, seq, prev }) => (type === 'route' ? [[seq, prev]] : []));
  expect(seqs).toHaveLength(COUNT / 2 - 20);
  expect(seqs.slice(19, 22)).toEqual([
    [40, 38],
    [82, 80],
    [84, 82],
  ]);
  const a = await join1(hub, 'a');
  a.send({ type: 'route', to: 'b', payload: 'more' });
  expect(await peer.wait(({ payload }) => payload === 'more')).toMatchObject({ prev: last });
  const waiting = async () => {
    const { agents } = (await (await fetch(`http://127.0.0.1:${hub.port}/v1/agents`)).json()) as {
      agents: { name: string; waiting: number }[];
    };
    return agents.find(({ name }) => name === 'b')?.waiting;
  };
  await expect.poll(waiting).toBe(0);
});
