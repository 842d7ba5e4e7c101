import { expect, test } from 'vitest';
import type { Change } from '../../../hub/storage.ts';
import { allOf, expectSame, mailOf, type Open, opened } from './opened.ts';
import { message, messages, session, task } from './rows.ts';

/** What may be deleted and what must stay. */
export function describeRetention(open: Open): void {
  test('R-HUB-47: old messages go; what waits, is a dead letter, or belongs to an open task stays', async () => {
    const { storage } = await opened(open);
    const one = async (change: Change, ts: number) => (await storage.commit([change], ts))[0] ?? 0;
    await storage.commit([session('b'), session('away')], 1);
    await storage.commit([{ kind: 'task', task: task('run.open', { subState: 'input_required' }), expect: null }], 1);
    await storage.commit([{ kind: 'task', task: task('run.over', { subState: 'done' }), expect: null }], 1);
    const said = await one(message(), 10);
    const read = await one(message({ box: 'b' }), 11);
    const dead = await one(message({ box: 'b' }), 12);
    const waits = await one(message({ box: 'away' }), 13);
    const nobodys = await one(message({ box: 'never-seen' }), 14);
    const ofOpen = await one(message({ taskId: 'run.open' }), 15);
    const ofOver = await one(message({ taskId: 'run.over' }), 16);
    const young = await one(message(), 20);
    await storage.commit(
      [
        { kind: 'dead', box: 'b', after: read, upto: dead, reason: 'expired' },
        { kind: 'cursor', name: 'b', acked: dead },
      ],
      17,
    );
    expect(await storage.trim({ before: 20 })).toBe(4);
    const left = async () => (await allOf(storage)).map(({ lsn }) => lsn);
    expect(await left()).toEqual([dead, waits, ofOpen, young]);
    for (const lsn of [said, read, nobodys, ofOver]) expect(await storage.at(lsn)).toBeUndefined();
    expect((await mailOf(storage, 'away')).map(({ lsn }) => lsn)).toEqual([waits]);
    expect(await storage.mailboxFacts('b', 0)).toMatchObject({ depth: 1, last: dead });
    expect((await storage.deadLetters(0, 10)).map(({ message: { lsn } }) => lsn)).toEqual([dead]);
    expect(await storage.task('run.over')).toMatchObject({ subState: 'done' });
    expect(await storage.byTask('run.over', '')).toBeUndefined();
    await storage.commit(
      [
        { kind: 'drop_dead', lsns: [dead] },
        { kind: 'forget_session', name: 'away' },
        {
          kind: 'task',
          task: task('run.open', { subState: 'cancelled' }),
          expect: { attempt: 0, subState: 'input_required' },
        },
      ],
      21,
    );
    expect(await storage.trim({ before: 20 })).toBe(3);
    expect(await left()).toEqual([young]);
  });

  test('R-HUB-47: what the hub says is waiting stays, whether its name has a session or not', async () => {
    const { storage } = await opened(open);
    await storage.commit([session('known', 100)], 1);
    const lsns: number[] = [];
    // each in a commit of its own, since a store may keep a commit in one piece
    for (const box of ['plain', 'plain', 'known', 'other', 'plain']) {
      lsns.push(...(await storage.commit([message({ box })], 2)));
    }
    const [first = 0, second, known, , last] = lsns;
    const waiting = [
      { box: 'plain', after: first },
      { box: 'known', after: 0 },
    ];
    expect(await storage.trim({ before: 3, waiting })).toBe(2);
    expect((await allOf(storage)).map(({ lsn }) => lsn)).toEqual([second, known, last]);
    expect(await storage.trim({ before: 3 })).toBe(3);
  });

  test('R-HUB-47: positions are never given out again, also when everything was deleted', async () => {
    const { storage, reopen } = await opened(open);
    const lsns = await storage.commit(
      messages(700, () => ({ taskId: 'run', box: 'b' })),
      1,
    );
    expect(await storage.trim({ before: 2 })).toBe(700);
    expect(await allOf(storage)).toEqual([]);
    expect(await storage.mailboxFacts('b', 0)).toEqual({ depth: 0, bytes: 0, last: 0 });
    expect(await storage.lastLsn()).toBe(lsns.at(-1));
    const again = reopen === undefined ? storage : await reopen();
    expect(await again.lastLsn()).toBe(lsns.at(-1));
    const [next = 0] = await again.commit([message({ taskId: 'run' })], 3);
    expect(next).toBeGreaterThan(lsns.at(-1) ?? 0);
    expect(await allOf(again, { taskId: 'run' })).toHaveLength(1);
  });

  test('R-HUB-47: of a name that was meant in several ways, what stays is found when others went', async () => {
    const { storage } = await opened(open);
    await storage.commit([session('c')], 1);
    for (let turn = 0; turn < 600; turn += 1) {
      const waits = turn % 10 === 0;
      await storage.commit([message({ to: 'b', box: waits ? 'c' : 'b' })], turn);
    }
    expect(await storage.trim({ before: 1000 })).toBe(540);
    expect(await storage.latest({ agent: 'b' }, 100)).toHaveLength(60);
    expect(await allOf(storage, { agent: 'b' })).toHaveLength(60);
    expect((await storage.mailboxFacts('c', 0)).depth).toBe(60);
  });

  test('R-HUB-47: the oldest messages go until the store is small enough', async () => {
    const { storage } = await opened(open);
    const filler = 'x'.repeat(2000);
    for (let turn = 0; turn < 200; turn += 1)
      await storage.commit(
        messages(20, () => ({ payload: filler })),
        turn,
      );
    const gone = await storage.trim({ maxBytes: 4_000_000 });
    const left = await allOf(storage);
    expect(gone + left.length).toBe(4000);
    const bytes = left.reduce((sum, { body }) => sum + body.length, 0);
    expect(bytes).toBeLessThan(4_000_000);
    expect(bytes).toBeGreaterThan(2_000_000);
    expect(left.at(-1)?.ts).toBe(199);
    expect(await storage.trim({ maxBytes: 4_000_000 })).toBe(0);
  });

  test('R-HUB-47: while old messages go, new ones are written and read', async () => {
    const { storage } = await opened(open);
    for (let turn = 0; turn < 100; turn += 1)
      await storage.commit(
        messages(50, () => ({ box: 'b', taskId: `run.t${turn % 9}` })),
        turn,
      );
    const trimming = storage.trim({ before: 90 });
    const written = [];
    for (let turn = 100; turn < 120; turn += 1)
      written.push(
        ...(await storage.commit(
          messages(5, () => ({ box: 'b' })),
          turn,
        )),
      );
    expect(await trimming).toBe(4500);
    const left = await allOf(storage);
    expect(left).toHaveLength(600);
    expect(left.slice(500).map(({ lsn }) => lsn)).toEqual(written);
    expectSame(await mailOf(storage, 'b'), left);
    expect(await storage.mailboxFacts('b', 0)).toMatchObject({ depth: 600 });
  });
}
