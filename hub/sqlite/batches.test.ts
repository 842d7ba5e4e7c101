import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../base/sqlite.ts';
import { testFolder } from '../../test/helpers/hub.ts';
import { allOf, expectSame } from '../../test/helpers/storage-conformance/opened.ts';
import { message, messages } from '../../test/helpers/storage-conformance/rows.ts';
import { readLog } from '../index.ts';
import { openStorage } from '../sqlite-storage.ts';
import type { Change } from '../storage.ts';

async function opened() {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  const database = await openDatabase(path);
  const number = (sql: string) => (database.prepare(sql).get() as { n: number }).n;
  return {
    path,
    storage,
    database,
    number,
    close: async () => {
      database.close();
      await storage.close();
    },
  };
}

test('R-HUB-41: a commit is one row, unless it is long or large; a frame that is larger than a row may be has its own', async () => {
  const { storage, number, close } = await opened();
  const rows = () => number('SELECT count(*) AS n FROM batch');
  await storage.commit(messages(256), 1);
  expect(rows()).toBe(1);
  await storage.commit(messages(257), 1);
  expect(rows()).toBe(3);
  await storage.commit([message(), message({ payload: 'x'.repeat(400_000) }), message(), message()], 1);
  expect(rows()).toBe(6);
  await storage.commit([], 1);
  await storage.commit([{ kind: 'cursor', name: 'b', acked: 3 }], 1);
  expect(rows()).toBe(6);
  await close();
});

test('R-HUB-41: SQL reads the log through a view, each frame byte for byte', async () => {
  const { storage, database, close } = await opened();
  const changes = [
    message({
      type: 'task.event',
      from: 'coder-1',
      to: 'hub',
      taskId: 'run.t1',
      attempt: 3,
      payload: '汉字 \u0001 \\ "',
    }),
    message({ box: 'b', payload: { n: [1.5e300, -0, 1e-7] }, spaced: true }),
    message({ box: 'b', payload: '龙'.repeat(300_000) }),
  ];
  await storage.commit(changes, 77);
  const rows = database.prepare('SELECT * FROM log').all();
  expect(rows).toEqual(
    changes.map((change, index) => {
      if (change.kind !== 'message') throw new Error('a message');
      const { type, from, to, box, taskId, id, attempt, body } = change.row;
      const [lsn, bytes] = [index + 1, body.length];
      return { lsn, ts: 77, type, src: from, dst: to, box, task_id: taskId, id, attempt, bytes, body: String(body) };
    }),
  );
  expect(database.prepare("SELECT count(*) AS n FROM log WHERE box = 'b' AND lsn > 2").get()).toEqual({ n: 1 });
  await close();
});

test('R-HUB-41: the index is written later, in the commit of something else, and everything is found meanwhile', async () => {
  const { storage, number, close } = await opened();
  const indexed = () => number('SELECT coalesce(max(last), 0) AS n FROM chunk');
  const mine = () => ({ box: 'b', taskId: 'run.t1' });
  for (let turn = 0; turn < 511; turn += 1) await storage.commit([message(mine())], turn);
  expect(indexed()).toBe(0);
  await storage.commit([message(mine())], 511);
  expect(indexed()).toBe(0);
  await storage.commit([message(mine())], 512);
  expect(indexed()).toBe(512);
  expect((await storage.mailboxFacts('b', 100)).depth).toBe(413);
  // However many come at once, there is never much left to do, and it is done in pieces.
  await storage.commit(messages(9000, mine), 513);
  await storage.commit(messages(1, mine), 514);
  expect(9514 - indexed()).toBeLessThan(5000);
  for (let turn = 0; turn < 10; turn += 1) await storage.commit(messages(1, mine), 515);
  expect(9524 - indexed()).toBeLessThan(600);
  expect((await storage.mailboxFacts('b', 0)).depth).toBe(9524);
  // What is not indexed is in memory: of large messages there is never much.
  await storage.commit(
    messages(40, () => ({ payload: 'x'.repeat(200_000) })),
    600,
  );
  await storage.commit([message()], 601);
  expect(9565 - indexed()).toBeLessThan(7);
  await close();
});

test('R-HUB-41: what the index lacks, for whatever reason, is indexed at the next start', async () => {
  const { path, storage, database, close } = await opened();
  for (let turn = 0; turn < 50; turn += 1)
    await storage.commit(
      messages(40, () => ({ box: 'b', taskId: 'run' })),
      turn,
    );
  const expected = await allOf(storage);
  database.exec('DELETE FROM chunk; DELETE FROM chunk_ids; DELETE FROM position');
  await close();
  const again = (await openStorage(path)).storage;
  expect((await again.mailboxFacts('b', 0)).depth).toBe(2000);
  expectSame(await allOf(again, { taskId: 'run' }), expected);
  await again.close();
});

test('R-HUB-41: others read a log while it grows: nothing twice, nothing left out', async () => {
  const { path, storage, close } = await opened();
  const row = (index: number): Change => message({ taskId: index % 3 ? 'run.t1' : 'run', payload: index });
  let count = 0;
  const grow = () =>
    storage.commit(
      Array.from({ length: 7 }, () => row(count++)),
      1,
    );
  while (count < 2000) await grow();
  const end = count;
  const seen = [];
  for await (const frame of readLog(path, { taskId: 'run', tree: true })) {
    seen.push(frame.payload);
    if (seen.length % 20 === 0) await grow();
  }
  expect(seen).toEqual(Array.from({ length: end }, (_, index) => index));
  await close();
});

test('R-HUB-41: where everything is for somebody else, the index is written in smaller pieces', async () => {
  const { storage, number, close } = await opened();
  const strangers = (turn: number) => (index: number) => ({
    from: `s${turn}-${index}`,
    box: `b${turn}-${index}`,
    taskId: `t${turn}.${index}`,
  });
  for (let turn = 0; turn < 40; turn += 1) {
    const before = number('SELECT count(*) AS n FROM position');
    await storage.commit(messages(64, strangers(turn)), turn);
    expect(number('SELECT count(*) AS n FROM position') - before).toBeLessThanOrEqual(192);
  }
  expect(number('SELECT max(last) AS n FROM chunk')).toBeGreaterThan(2560 - 700);
  expect((await storage.mailboxFacts('b3-5', 0)).depth).toBe(1);
  await close();
});
