import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { openDatabase } from '../../base/sqlite.ts';
import { testFolder, testHub } from '../../test/helpers/hub.ts';
import { helloPeer } from '../../test/helpers/peer.ts';
import { allOf, mailOf } from '../../test/helpers/storage-conformance/opened.ts';
import { messages, task } from '../../test/helpers/storage-conformance/rows.ts';
import { countLog, openLog, readLog, readTasks } from '../index.ts';
import { openStorage } from '../sqlite-storage.ts';

/** A database as an earlier version left it. */
async function fixture(version: number): Promise<string> {
  const path = join(await testFolder(), 'log.db');
  const database = await openDatabase(path);
  database.exec(await readFile(`test/fixtures/hub-log/version-${version}.sql`, 'utf8'));
  database.exec('PRAGMA journal_mode = WAL');
  database.close();
  return path;
}

test.for([1, 2])('R-HUB-42: a log of version %i is opened with everything that is in it', async (version) => {
  const path = await fixture(version);
  const { storage } = await openStorage(path);
  expect(storage.epoch).toBe('0b0b0b0b-1111-4222-8333-444444444444');
  const all = await allOf(storage);
  expect(all.map(({ lsn, ts, id }) => `${lsn} ${ts - 1_790_000_000_000} ${id}`)).toEqual([
    '1 1 id-1',
    '2 1 id-2',
    '3 1 id-3',
    '4 2 assign-0',
    '5 2 assign-1',
    '6 3 id-6',
    '7 3 result-0',
    '8 4 id-8',
    '9 4 id-9',
    '10 4 id-10',
  ]);
  expect(JSON.parse(String(all[2]?.body)).payload).toEqual({ text: '你好，世界 🐢' });
  expect(all[5]).toMatchObject({
    type: 'task.event',
    from: 'coder-1',
    to: 'hub',
    taskId: 'run.t0',
    attempt: 1,
    box: null,
  });
  expect((await mailOf(storage, 'b')).map(({ lsn }) => lsn)).toEqual([1, 2, 3, 9]);
  expect(await storage.mailboxFacts('b', 2)).toEqual({ depth: 2, bytes: 176, last: 9 });
  expect((await storage.byTask('run.t1', 'assign-1'))?.lsn).toBe(5);
  expect((await allOf(storage, { taskId: 'run', tree: true })).map(({ lsn }) => lsn)).toEqual([4, 5, 6, 7]);
  expect(await storage.tasks({})).toMatchObject([
    { taskId: 'run.t0', subState: 'done', resultId: 'result-0', summary: 'ok' },
    { taskId: 'run.t1', subState: 'input_required', attempt: 2, losses: 1, parent: 'run.t0' },
  ]);
  expect([await storage.checkpoint('run.t0'), await storage.checkpoint('run.t1')]).toEqual([undefined, '{"step":3}']);
  expect((await storage.sessions()).map(({ name, acked }) => [name, acked])).toEqual([
    ['b', 2],
    ['owner', 0],
  ]);
  expect((await storage.deadLetters(0, 9)).map(({ lsn }) => lsn)).toEqual(version === 2 ? [3] : []);
  // Number 11 was given out once.
  expect(await storage.lastLsn()).toBe(11);
  await storage.close();
});

test.for([1, 2])('R-HUB-42: a session of version %i resumes where it stood', async (version) => {
  const hub = await testHub({ database: await fixture(version) });
  const resume = { session: 'session-of-b', resume_token: 'take-me-back', epoch: hub.epoch, seq: 2 };
  const { peer, welcome } = await helloPeer(hub.url, 'b', { resume });
  expect(welcome.payload.resume).toMatchObject({ state: 'recovered' });
  await peer.next('route', ({ lsn }) => lsn === 9);
  expect(peer.frames.filter(({ type }) => type === 'route').map(({ lsn }) => lsn)).toEqual([3]);
});

test.for([1, 2])(
  'R-HUB-42: a log of version %i is read as it is, without being brought to a new form',
  async (version) => {
    const path = await fixture(version);
    const before = await readFile(path);
    const lsns = [];
    for await (const frame of readLog(path, { taskId: 'run', tree: true })) lsns.push(frame.lsn);
    expect(lsns).toEqual([4, 5, 6, 7]);
    expect(await countLog(path)).toBe(10);
    expect(await readTasks(path)).toHaveLength(2);
    expect((await readFile(path)).equals(before)).toBe(true);
  },
);

/** Takes a database back to the schema before what attempts leave had a table of its own. */
const versionFive = `
  DROP TABLE checkpoint;
  DROP INDEX task_state;
  ALTER TABLE task ADD COLUMN checkpoint TEXT;
  PRAGMA user_version = 5;`;

test('R-HUB-42: what attempts left in a log of version 5 is kept for the tasks that are not over', async () => {
  const path = join(await testFolder(), 'log.db');
  const { storage: first } = await openStorage(path);
  const records = [task('t1', { subState: 'working' }), task('t2', { subState: 'done' }), task('t3')];
  await first.commit(
    records.map((record) => ({ kind: 'task', task: record, expect: null })),
    1,
  );
  await first.close();
  const database = await openDatabase(path);
  const large = JSON.stringify('好'.repeat(100_000));
  database.exec(versionFive);
  database.prepare("UPDATE task SET checkpoint = ? WHERE task_id <> 't3'").run(large);
  database.close();
  expect(await readTasks(path)).toHaveLength(3);
  const { storage } = await openStorage(path);
  const left = ['t1', 't2', 't3'].map((taskId) => storage.checkpoint(taskId));
  expect(await Promise.all(left)).toEqual([large, undefined, undefined]);
  expect(await storage.tasks({})).toEqual(records);
  await storage.close();
});

const ROWS = 20_000;

test('R-HUB-42: kill -9 while an old log is brought to the new form loses nothing: the next start goes on', async () => {
  const path = await fixture(1);
  const database = await openDatabase(path);
  database.exec(`
    DELETE FROM log;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO log SELECT i, i / 7, 'route', 'a', 'b', 'b', 'run', 'id-' || i, NULL, 1,
      json_object('type', 'route', 'from', 'a', 'to', 'b', 'task_id', 'run', 'payload', i, 'id', 'id-' || i) FROM n`);
  database.close();
  const opening = execa('node', ['--import', 'tsx', 'test/helpers/open-storage-process.ts', path], {
    buffer: false,
    reject: false,
  });
  await once(opening.stdout, 'data');
  opening.kill('SIGKILL');
  await opening;
  // What is packed and what is not are one log to a reader.
  expect(await countLog(path)).toBe(ROWS);
  const half = await openDatabase(path, { readOnly: true });
  const { left } = half.prepare('SELECT count(*) AS "left" FROM old_log').get() as { left: number };
  half.close();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(ROWS);
  const payloads = [];
  for await (const frame of readLog(path, { type: 'route' })) payloads.push(frame.payload);
  expect(payloads).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
  const { storage } = await openStorage(path);
  expect(await storage.mailboxFacts('b', 0)).toMatchObject({ depth: ROWS, last: ROWS });
  expect((await storage.at(ROWS))?.ts).toBe(Math.floor(ROWS / 7));
  await storage.close();
  expect(await countLog(path)).toBe(ROWS);
});

test('R-HUB-42: a log of version 4, whose index knows no types, is read as it is, and gets them at the next start', async () => {
  const path = join(await testFolder(), 'log.db');
  const { storage: first } = await openStorage(path);
  const type = (index: number) => (index % 100 === 0 ? 'task.result' : 'route');
  for (let turn = 0; turn < 12; turn += 1) {
    await first.commit(
      messages(100, (index) => ({ type: type(index), from: `s${index % 2}` })),
      turn,
    );
  }
  await first.close();
  const database = await openDatabase(path);
  const number = (sql: string) => (database.prepare(sql).get() as { n: number }).n;
  expect(number('SELECT count(*) AS n FROM chunk')).toBe(2);
  database.exec(`
    DELETE FROM position WHERE kind = 'type';
    DROP INDEX chunk_untyped;
    ALTER TABLE chunk DROP COLUMN typed;
    ${versionFive}
    PRAGMA user_version = 4`);
  const results = Array.from({ length: 12 }, (_, turn) => turn * 100 + 1);
  const read = async () => {
    const log = await openLog(path);
    const [onwards, back] = [[] as unknown[], [] as unknown[]];
    for await (const { lsn } of log.frames({ type: 'task.result' })) onwards.push(lsn);
    for await (const { lsn } of log.newestFirst({ type: 'task.result', agent: 's0', afterLsn: 150 })) back.push(lsn);
    log.close();
    expect(onwards).toEqual(results);
    expect(back).toEqual(results.slice(2).reverse());
  };
  await read();
  const { storage: again } = await openStorage(path);
  expect(number("SELECT sum(count) AS n FROM position WHERE kind = 'type'")).toBe(
    number('SELECT max(last) AS n FROM chunk'),
  );
  expect((await again.latest({ type: 'task.result' }, 3)).map(({ lsn }) => lsn)).toEqual(results.slice(-3));
  await read();
  // what an earlier index leaves out can be taken out of it all the same
  expect(await again.trim({ before: 6 })).toBe(600);
  expect((await again.latest({ type: 'task.result' }, 99)).map(({ lsn }) => lsn)).toEqual(results.slice(6));
  await again.close();
  database.close();
});

test('R-HUB-42: a log of a newer version is left alone and told', async () => {
  const path = await fixture(2);
  const database = await openDatabase(path);
  database.exec('PRAGMA user_version = 99');
  database.close();
  await expect(openStorage(path)).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining('newer'),
  });
});
