import { expect, test } from 'vitest';
import type { Change } from '../../../hub/storage.ts';
import { allOf, expectSame, type Open, opened } from './opened.ts';
import { message, messages, session, stored, task } from './rows.ts';

/** Commits: all or nothing, in order, durable. */
export function describeCommits(open: Open): void {
  test('R-HUB-40: an empty store has nothing in it', async () => {
    const { storage } = await opened(open);
    expect(storage.epoch).not.toBe('');
    expect(await storage.lastLsn()).toBe(0);
    expect(await storage.positionAt(Date.now())).toBe(0);
    expect(await storage.tail({}, 0, 10, 1000)).toEqual({ messages: [] });
    expect(await storage.latest({}, 10)).toEqual([]);
    expect(await storage.at(1)).toBeUndefined();
    expect(await storage.byTask('t', 'i')).toBeUndefined();
    expect(await storage.mailbox('b', 0, 10)).toEqual([]);
    expect(await storage.mailboxFacts('b', 0)).toEqual({ depth: 0, bytes: 0, last: 0 });
    expect(await storage.recentIds('a', 10)).toEqual([]);
    expect(await storage.task('t')).toBeUndefined();
    expect([await storage.tasks({}), await storage.sessions(), await storage.deadLetters(0, 10)]).toEqual([[], [], []]);
    expect(await storage.trim({ before: Date.now() })).toBe(0);
    expect(await storage.commit([], 1)).toEqual([]);
  });

  test('R-HUB-40: positions grow from commit to commit and within one, and what was written is what is read', async () => {
    const { storage } = await opened(open);
    const written = [
      messages(3, (index) => ({
        box: index === 1 ? 'b' : null,
        taskId: 'run.t1',
        attempt: index,
        payload: '汉字 🐢 "\\n"',
      })),
      [message({ spaced: true, payload: { deep: [1, 2.5, -0, 1e21, null, 'ü'] } })],
      [message({ spaced: true, payload: 'x'.repeat(5000) })],
      messages(300, () => ({ type: 'task.event', to: 'hub' })),
    ];
    const expected = [];
    for (const [index, changes] of written.entries()) {
      const lsns = await storage.commit(changes, 1000 + index);
      expect(lsns).toHaveLength(changes.length);
      expected.push(...changes.map((change, at) => stored(change, lsns[at], 1000 + index)));
    }
    const lsns = expected.map(({ lsn }) => lsn ?? 0);
    expect(lsns).toEqual([...new Set(lsns)].sort((x, y) => x - y));
    expect(lsns[0]).toBeGreaterThan(0);
    expectSame(await allOf(storage), expected);
    expect(await storage.lastLsn()).toBe(lsns.at(-1));
    for (const one of expected.slice(0, 5)) expect(await storage.at(one.lsn ?? 0)).toEqual(one);
    expect(await storage.at((lsns.at(-1) ?? 0) + 1)).toBeUndefined();
  });

  test('R-HUB-40: a frame as large as may be, beside small ones, comes back byte for byte', async () => {
    const { storage } = await opened(open);
    const changes = [
      message(),
      message({ payload: '龙'.repeat(350_000) }),
      message(),
      message({ payload: 'x'.repeat(520_000) }),
    ];
    const lsns = await storage.commit(changes, 5);
    for (const [index, change] of changes.entries()) {
      expect((await storage.at(lsns[index] ?? 0))?.body.equals(stored(change, 0, 0).body)).toBe(true);
    }
  });

  test('R-HUB-40: a commit whose task does not stand where it should leaves nothing behind, wherever in it that is', async () => {
    const { storage } = await opened(open);
    await storage.commit([{ kind: 'task', task: task('t1'), expect: null }, session('b'), message({ box: 'b' })], 1);
    const last = await storage.lastLsn();
    const moved = task('t1', { subState: 'working', attempt: 1 });
    const wrong: Change[] = [
      { kind: 'task', task: moved, expect: { attempt: 1, subState: 'queued' } },
      { kind: 'task', task: moved, expect: { attempt: 0, subState: 'offered' } },
      { kind: 'task', task: moved, expect: null },
      { kind: 'task', task: task('t2'), expect: { attempt: 0, subState: 'queued' } },
    ];
    for (const change of wrong) {
      for (const at of [0, 2, 5]) {
        const changes: Change[] = [
          message({ box: 'b' }),
          session('c'),
          { kind: 'cursor', name: 'b', acked: last },
          message(),
          { kind: 'dead', box: 'b', after: 0, upto: last, reason: 'expired' },
        ];
        await expect(storage.commit(changes.toSpliced(at, 0, change), 2)).rejects.toThrow();
      }
    }
    expect(await allOf(storage)).toHaveLength(1);
    expect(await storage.lastLsn()).toBe(last);
    expect(await storage.mailboxFacts('b', 0)).toMatchObject({ depth: 1 });
    expect(await storage.sessions()).toEqual([session('b').session]);
    expect(await storage.tasks({})).toEqual([task('t1')]);
    expect(await storage.deadLetters(0, 10)).toEqual([]);
    const [next = 0] = await storage.commit(
      [message(), { kind: 'task', task: moved, expect: { attempt: 0, subState: 'queued' } }],
      3,
    );
    expect(next).toBeGreaterThan(last);
    expect(await storage.task('t1')).toEqual(moved);
  });

  test('R-HUB-40: what an attempt left is kept with its commit or not at all, until its task is over', async () => {
    const { storage } = await opened(open);
    const left = (taskId: string, checkpoint: string) => ({ kind: 'checkpoint', taskId, checkpoint }) as const;
    const large = JSON.stringify('好'.repeat(170_000));
    await storage.commit(
      [{ kind: 'task', task: task('t1'), expect: null }, left('t1', '{"a":1}'), left('nobody', '1')],
      1,
    );
    expect(await storage.checkpoint('t1')).toBe('{"a":1}');
    expect([await storage.checkpoint('nobody'), await storage.checkpoint('t2')]).toEqual([undefined, undefined]);
    await storage.commit([left('t1', '2'), left('t1', large)], 2);
    expect(await storage.checkpoint('t1')).toBe(large);
    const wrong = { kind: 'task', task: task('t1'), expect: null } as const;
    await expect(storage.commit([left('t1', '3'), wrong], 3)).rejects.toThrow();
    expect(await storage.checkpoint('t1')).toBe(large);
    const expect1 = { attempt: 0, subState: 'queued' } as const;
    await storage.commit([{ kind: 'task', task: task('t1', { subState: 'working' }), expect: expect1 }], 4);
    expect(await storage.checkpoint('t1')).toBe(large);
    const over = task('t1', { subState: 'done' });
    await storage.commit([{ kind: 'task', task: over, expect: { attempt: 0, subState: 'working' } }], 5);
    expect(await storage.checkpoint('t1')).toBeUndefined();
    expect(await storage.tasks({})).toEqual([over]);
  });

  test('R-HUB-40: commits that are not waited for are done in the order in which they came', async () => {
    const { storage } = await opened(open);
    const commits = Array.from({ length: 30 }, (_, index) => storage.commit(messages(index % 4), index));
    const lsns = (await Promise.all(commits)).flat();
    expect(lsns).toEqual([...lsns].sort((x, y) => x - y));
    expect((await allOf(storage)).map(({ lsn }) => lsn)).toEqual(lsns);
  });

  test('R-HUB-40: a session is kept, moved, and forgotten in the order of the changes', async () => {
    const { storage } = await opened(open);
    const cursor = (name: string, acked: number) => ({ kind: 'cursor', name, acked }) as const;
    await storage.commit([session('b'), session('c', 4), cursor('b', 3), cursor('b', 7), cursor('nobody', 3)], 1);
    const facts = async () => (await storage.sessions()).map(({ name, acked }) => `${name} ${acked}`).sort();
    expect(await facts()).toEqual(['b 7', 'c 4']);
    await storage.commit([cursor('b', 9), { kind: 'forget_session', name: 'b' }, session('b', 8), cursor('c', 5)], 2);
    expect(await facts()).toEqual(['b 8', 'c 5']);
    await storage.commit([{ kind: 'forget_session', name: 'c' }, cursor('c', 9)], 3);
    expect(await facts()).toEqual(['b 8']);
  });
}

/** What outlives the store. */
export function describeReopening(open: Open): void {
  test('R-HUB-40: everything is there when the store is opened again, and positions go on', async () => {
    const { storage, reopen } = await opened(open);
    if (reopen === undefined) return;
    const changes = messages(40, (index) => ({
      box: index % 3 === 0 ? 'b' : null,
      taskId: index % 2 ? 'run.t1' : '',
      from: 'a',
    }));
    const lsns = await storage.commit(
      [
        ...changes,
        session('b', 1),
        { kind: 'task', task: task('run.t1'), expect: null },
        { kind: 'checkpoint', taskId: 'run.t1', checkpoint: '7' },
      ],
      7,
    );
    await storage.commit([{ kind: 'dead', box: 'b', after: 0, upto: lsns[3] ?? 0, reason: 'expired' }], 8);
    const epoch = storage.epoch;
    const again = await reopen();
    expect(again.epoch).toBe(epoch);
    expect(await again.lastLsn()).toBe(lsns.at(-1));
    expectSame(
      await allOf(again),
      changes.map((change, index) => stored(change, lsns[index], 7)),
    );
    expect(await again.sessions()).toEqual([session('b', 1).session]);
    expect(await again.task('run.t1')).toEqual(task('run.t1'));
    expect(await again.checkpoint('run.t1')).toBe('7');
    expect(await again.deadLetters(0, 10)).toMatchObject([
      { lsn: lsns[0], reason: 'expired', diedAt: 8 },
      { lsn: lsns[3], box: 'b' },
    ]);
    expect((await again.recentIds('a', 3)).map(({ lsn }) => lsn)).toEqual(lsns.slice(-3));
    const [next = 0] = await again.commit([message()], 9);
    expect(next).toBeGreaterThan(lsns.at(-1) ?? 0);
  });

  test('R-HUB-40: two stores have two epochs', async () => {
    const [one, two] = [await opened(open), await opened(open)];
    expect(one.storage.epoch).not.toBe(two.storage.epoch);
  });
}
