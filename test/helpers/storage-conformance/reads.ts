import { expect, test } from 'vitest';
import type { Change, Storage, StoredMessage } from '../../../hub/storage.ts';
import { allOf, expectSame, mailOf, type Open, opened } from './opened.ts';
import { message, messages, session, stored, task } from './rows.ts';

/** Enough messages, in commits of all sizes, that whatever a store does in steps was done several times. */
async function busyLog(storage: Storage) {
  const all = [];
  for (let turn = 0; all.length < 1600; turn += 1) {
    const size = [1, 1, 3, 17, 64, 300][turn % 6] as number;
    const changes = messages(size, (index) => {
      const at = all.length + index;
      return {
        type: at % 50 === 0 ? 'task.result' : 'task.event',
        from: `s${at % 3}`,
        to: at % 7 === 0 ? 'role:coder' : `r${at % 5}`,
        box: at % 2 === 0 ? `r${at % 5}` : null,
        taskId: at % 4 === 0 ? '' : (['run', 'run.t1', 'run.t1.x', 'runner'][(at % 16) >> 2] as string),
        id: `m${at}`,
        payload: at % 90 === 7 ? { event: { type: 'noted', at } } : 'x'.repeat(at % 11 === 0 ? 2000 : 20),
      } as const;
    });
    const lsns = await storage.commit(changes, 10_000 + turn * 10);
    all.push(...(await Promise.all(lsns.map((lsn) => storage.at(lsn)))));
  }
  return all.filter((one) => one !== undefined);
}

/** Reads: filters, pages, look-ups. */
export function describeReads(open: Open): void {
  test('R-HUB-40: every filter finds what it says, in order, page by page, and from the end', async () => {
    const { storage } = await opened(open);
    const all = await busyLog(storage);
    const filters = [
      [{}, () => true],
      [{ taskId: 'run.t1' }, ({ taskId }) => taskId === 'run.t1'],
      [{ taskId: 'run', tree: true }, ({ taskId }) => taskId === 'run' || taskId.startsWith('run.')],
      [
        { taskId: 'run.t1', tree: true, type: 'task.result' },
        ({ taskId, type }) => /^run\.t1(\.|$)/.test(taskId) && type === 'task.result',
      ],
      [{ type: 'task.result' }, ({ type }) => type === 'task.result'],
      [{ type: 'task.event' }, ({ type }) => type === 'task.event'],
      [{ type: 'noted' }, ({ id }) => Number(id.slice(1)) % 90 === 7],
      [{ agent: 's1' }, ({ from }) => from === 's1'],
      [{ agent: 's1', type: 'task.result' }, ({ from, type }) => from === 's1' && type === 'task.result'],
      [{ agent: 'r3' }, ({ to, box }) => to === 'r3' || box === 'r3'],
      [
        { agent: 'r2', taskId: 'runner' },
        ({ to, box, taskId }) => (to === 'r2' || box === 'r2') && taskId === 'runner',
      ],
      [{ taskId: 'nobody' }, () => false],
      [{ type: 'nothing' }, () => false],
      [{ agent: 'nobody' }, () => false],
    ] as const satisfies [object, (one: (typeof all)[number]) => boolean][];
    for (const [filter, wanted] of filters) {
      const expected = all.filter(wanted);
      expectSame(await allOf(storage, filter, { limit: 37 }), expected);
      expectSame(await allOf(storage, filter, { maxBytes: 5000 }), expected);
      const after = all[734]?.lsn ?? 0;
      expectSame(
        await allOf(storage, filter, { after }),
        expected.filter(({ lsn }) => lsn > after),
      );
      expectSame(await storage.latest(filter, 20), expected.slice(-20));
      const earlier = expected.filter(({ lsn }) => lsn < after);
      expectSame(await storage.latest(filter, 20, after), earlier.slice(-20));
    }
    expect(await storage.latest({}, 0)).toEqual([]);
    expect(await storage.latest({}, 20, 1)).toEqual([]);
    expectSame(await storage.latest({}, 2, (all.at(-1)?.lsn ?? 0) - 3), all.slice(-6, -4));
  });

  test('R-HUB-40: large frames among small ones are found by every way as soon as they are written', async () => {
    const { storage } = await opened(open);
    const changes = messages(40, (index) => ({
      from: `s${index % 2}`,
      box: index % 3 === 0 ? 'b' : 'c',
      taskId: `t${index % 2}`,
      payload: 'x'.repeat(index % 4 === 0 ? 20_000 + index : index),
    }));
    const all: StoredMessage[] = [];
    // in commits of one and of several, whose frames lie together
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 30],
      [30, 40],
    ] as const) {
      const lsns = await storage.commit(changes.slice(from, to), from);
      all.push(...lsns.map((lsn, index) => stored(changes[from + index] as Change, lsn, from)));
    }
    for (const { lsn, id, taskId } of all) {
      expectSame(
        [(await storage.at(lsn)) as StoredMessage],
        all.filter((one) => one.lsn === lsn),
      );
      expect((await storage.byTask(taskId, id))?.lsn).toBe(lsn);
    }
    expectSame(await allOf(storage), all);
    expectSame(await storage.latest({ agent: 's0' }, 9), all.filter(({ from }) => from === 's0').slice(-9));
    const mail = all.filter(({ box }) => box === 'b');
    expectSame(await mailOf(storage, 'b'), mail);
    expect(await storage.mailboxFacts('b', 0)).toEqual({
      depth: mail.length,
      bytes: mail.reduce((sum, { body }) => sum + body.length, 0),
      last: mail.at(-1)?.lsn,
    });
    expect((await storage.recentIds('s1', 3)).map(({ id }) => id)).toEqual(
      all
        .filter(({ from }) => from === 's1')
        .slice(-3)
        .map(({ id }) => id),
    );
  });

  test('R-HUB-40: a page ends at its limit or its bytes, has one message at least, and says where to go on', async () => {
    const { storage } = await opened(open);
    const lsns = await storage.commit(
      messages(6, () => ({ payload: 'x'.repeat(10_000) })),
      1,
    );
    const page = await storage.tail({}, 0, 100, 25_000);
    expect(page.messages.map(({ lsn }) => lsn)).toEqual(lsns.slice(0, 2));
    expect(page.next).toBe(lsns[1]);
    expect((await storage.tail({}, page.next ?? 0, 100, 10)).messages.map(({ lsn }) => lsn)).toEqual([lsns[2]]);
    expect((await storage.tail({}, 0, 3, 1_000_000)).next).toBe(lsns[2]);
    expect((await storage.tail({}, lsns[5] ?? 0, 3, 1_000_000)).messages).toEqual([]);
  });

  test('R-HUB-40: mailboxes are told exactly and read in order, from any position', async () => {
    const { storage } = await opened(open);
    const all = await busyLog(storage);
    for (const box of ['r0', 'r3', 'nobody']) {
      const mine = all.filter((one) => one.box === box);
      for (const after of [0, all[5]?.lsn, all[600]?.lsn, mine[90]?.lsn, all.at(-2)?.lsn, all.at(-1)?.lsn].map(
        (lsn) => lsn ?? 0,
      )) {
        const left = mine.filter(({ lsn }) => lsn > after);
        expectSame(await mailOf(storage, box, after), left);
        const bytes = left.reduce((sum, { body }) => sum + body.length, 0);
        expect(await storage.mailboxFacts(box, after)).toEqual({
          depth: left.length,
          bytes,
          last: left.at(-1)?.lsn ?? 0,
        });
      }
    }
  });

  test('R-HUB-40: large messages are handed over a few at a time, one at least', async () => {
    const { storage } = await opened(open);
    const lsns = await storage.commit(
      messages(12, () => ({ box: 'b', payload: 'x'.repeat(500_000) })),
      1,
    );
    expect((await storage.mailbox('b', 0, 64)).length).toBeGreaterThanOrEqual(1);
    const latest = async (count: number, before?: number) =>
      (await storage.latest({ agent: 'b' }, count, before, 1_200_000)).map(({ lsn }) => lsn);
    expect(await latest(9)).toEqual(lsns.slice(-3));
    expect(await latest(2)).toEqual(lsns.slice(-2));
    expect(await latest(9, lsns[2])).toEqual(lsns.slice(0, 2));
    await storage.commit([{ kind: 'dead', box: 'b', after: 0, upto: lsns[11] ?? 0, reason: 'expired' }], 2);
    const letters = [];
    for (let after = 0; ; ) {
      const page = await storage.deadLetters(after, 100);
      if (page.length === 0) break;
      expect(page.length).toBeLessThan(12);
      letters.push(...page.map(({ lsn }) => lsn));
      after = letters.at(-1) ?? 0;
    }
    expect(letters).toEqual(lsns);
    expect((await mailOf(storage, 'b')).map(({ lsn }) => lsn)).toEqual(lsns);
  });

  test('R-HUB-40: one message is found by task and id, the first of them; the ids of a sender are known', async () => {
    const { storage } = await opened(open);
    const all = await busyLog(storage);
    const one = all.find(({ lsn, taskId }) => lsn > 900 && taskId === 'run.t1');
    expect(await storage.byTask('run.t1', one?.id ?? '')).toEqual(one);
    expect(await storage.byTask('run', one?.id ?? '')).toBeUndefined();
    const [first] = await storage.commit(
      [message({ taskId: 'run', id: 'twice' }), message({ taskId: 'run', id: 'twice' })],
      99_999,
    );
    expect((await storage.byTask('run', 'twice'))?.lsn).toBe(first);
    const mine = all.filter(({ from }) => from === 's2').map(({ id, lsn }) => ({ id, lsn }));
    for (const count of [1, 100, 5000]) expect(await storage.recentIds('s2', count)).toEqual(mine.slice(-count));
  });

  test('R-HUB-40: a time leads to the newest message of then, also after the clock was set back', async () => {
    const { storage } = await opened(open);
    const all = await busyLog(storage);
    for (const ts of [0, 9999, 10_000, 10_005, 10_100, 10_555, 1_000_000]) {
      expect(await storage.positionAt(ts)).toBe(all.filter((one) => one.ts <= ts).at(-1)?.lsn ?? 0);
    }
    const [late] = await storage.commit([message()], 10_001);
    await storage.commit([message()], 50_000);
    expect(await storage.positionAt(10_002)).toBe(late);
  });

  test('R-HUB-40: tasks are listed oldest first, by prefix, open ones, and the newest', async () => {
    const { storage } = await opened(open);
    const records = [
      task('run.t2', { created: 1 }),
      task('run.t1', {
        created: 2,
        subState: 'done',
        summary: '好',
        deadline: 5,
        agent: 'c',
        session: 's',
      }),
      task('run%t', { created: 3, subState: 'failed', parent: 'run.t1', reason: 'no' }),
      task('ru', { created: 4, subState: 'working', attempt: 2, losses: 1, priority: -3 }),
    ];
    await storage.commit(
      records.map((record) => ({ kind: 'task', task: record, expect: null })),
      1,
    );
    expect(await storage.tasks({})).toEqual(records);
    expect(await storage.tasks({ prefix: 'run.' })).toEqual(records.slice(0, 2));
    expect(await storage.tasks({ prefix: 'run%' })).toEqual(records.slice(2, 3));
    expect(await storage.tasks({ open: true })).toEqual([records[0], records[3]]);
    expect(await storage.tasks({ newest: 2 })).toEqual(records.slice(2));
    expect(await storage.tasks({ prefix: 'run', open: true, newest: 1 })).toEqual(records.slice(0, 1));
    expect(await storage.tasks({ first: 3 })).toEqual(records.slice(0, 3));
    expect(await storage.tasks({ after: { taskId: 'run.t1', created: 2 } })).toEqual(records.slice(2));
    expect(await storage.tasks({ after: { taskId: 'run', created: 2 }, prefix: 'run', first: 1 })).toEqual([
      records[1],
    ]);
    expect(await storage.tasks({ after: { taskId: 'ru', created: 4 } })).toEqual([]);
    expect(await storage.tasks({ states: ['working', 'done'] })).toEqual([records[1], records[3]]);
    expect(await storage.tasks({ states: ['working', 'failed', 'done'], newest: 2 })).toEqual(records.slice(2));
    expect(await storage.tasks({ states: ['working', 'queued', 'done'], first: 2 })).toEqual(records.slice(0, 2));
    expect(await storage.tasks({ states: ['working', 'done'], open: true })).toEqual([records[3]]);
    expect(await storage.tasks({ states: [] })).toEqual([]);
    const before = { taskId: 'run%t', created: 3 };
    expect(await storage.tasks({ before })).toEqual(records.slice(0, 2));
    expect(await storage.tasks({ before, newest: 1, states: ['queued', 'done', 'failed'] })).toEqual([records[1]]);
  });

  test('R-HUB-40: dead letters are those of one mailbox in a range, keep their first reason, and can be dropped', async () => {
    const { storage } = await opened(open);
    const lsns = await storage.commit([session('b'), ...messages(8, (index) => ({ box: index % 2 ? 'b' : 'c' }))], 1);
    const at = (index: number) => lsns[index] ?? 0;
    await storage.commit([{ kind: 'dead', box: 'b', after: at(1), upto: at(5), reason: 'expired' }], 20);
    await storage.commit([{ kind: 'dead', box: 'b', after: 0, upto: at(5), reason: 'offline' }], 30);
    const letters = await storage.deadLetters(0, 10);
    expect(letters.map(({ lsn, reason, diedAt, box }) => ({ lsn, reason, diedAt, box }))).toEqual([
      { lsn: at(1), reason: 'offline', diedAt: 30, box: 'b' },
      { lsn: at(3), reason: 'expired', diedAt: 20, box: 'b' },
      { lsn: at(5), reason: 'expired', diedAt: 20, box: 'b' },
    ]);
    expect(letters[0]?.message).toEqual(await storage.at(at(1)));
    expect((await storage.deadLetters(at(1), 1)).map(({ lsn }) => lsn)).toEqual([at(3)]);
    await storage.commit([{ kind: 'drop_dead', lsns: [at(3), at(0), 99_999] }], 40);
    expect((await storage.deadLetters(0, 10)).map(({ lsn }) => lsn)).toEqual([at(1), at(5)]);
    expect([await storage.wasGivenUp(at(1)), await storage.wasGivenUp(at(3)), await storage.wasGivenUp(at(0))]).toEqual(
      [true, true, false],
    );
    expect(await allOf(storage)).toHaveLength(8);
  });
}
