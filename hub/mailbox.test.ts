import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Mailbox } from './mailbox.ts';
import { MailboxMemory } from './mailbox-memory.ts';
import { Queue } from './queue.ts';
import { openStorage } from './sqlite-storage.ts';
import type { StoredMessage } from './storage.ts';

/** A mailbox for `b` with its log, and a reader that takes `room` messages. */
async function stage(limits: { memory?: MailboxMemory; maxInflight?: number } = {}) {
  const { storage } = await openStorage(':memory:');
  const memory = limits.memory ?? new MailboxMemory(1000, 1000);
  const mailbox = new Mailbox('b', { acked: 0, depth: 0, bytes: 0, last: 0 }, storage, {
    maxInflight: limits.maxInflight ?? 1000,
    maxInflightBytes: 10_000_000,
    memory,
  });
  const taken: StoredMessage[] = [];
  const reader = { room: Number.POSITIVE_INFINITY };
  const sink = {
    full: () => reader.room <= 0,
    deliver: (message: StoredMessage) => {
      reader.room -= 1;
      taken.push(message);
    },
  };
  /** Commits, and hands over when it is told to: a store may show a commit before it says that it is done. */
  const commit = async (body: Buffer) => {
    const id = `i${body.length}`;
    const row = { type: 'route', from: 'a', to: 'b', box: 'b', taskId: '', id, attempt: null, body };
    mailbox.announce(body.length);
    const [lsn] = await storage.commit([{ kind: 'message', row }], 1);
    return () => mailbox.push({ ...row, lsn: lsn as number, ts: 1 });
  };
  const say = async (...bodies: Buffer[]) => {
    for (const body of bodies) (await commit(body))();
  };
  return { mailbox, memory, sink, reader, taken, say, commit };
}

test('R-HUB-53: a message that has to wait does not hold the memory it was received in, one that goes at once is not copied', async () => {
  const { mailbox, sink, reader, taken, say } = await stage();
  const received = Buffer.alloc(64 * 1024, '{}');
  mailbox.attach(sink, true);
  await say(received.subarray(0, 100));
  reader.room = 0;
  await say(received.subarray(100, 300));
  reader.room = 5;
  mailbox.feed();
  expect(taken.map(({ body }) => body.length)).toEqual([100, 200]);
  expect(taken[0]?.body.buffer).toBe(received.buffer);
  expect(taken[1]?.body.buffer.byteLength).toBeLessThanOrEqual(8 * 1024);
});

test('R-HUB-40: what is read from a store that resolves late is handed over once, in order, and counted once', async () => {
  const { mailbox, sink, reader, taken, commit, say } = await stage({
    memory: new MailboxMemory(0, 0),
    maxInflight: 3,
  });
  const frame = (size: number) =>
    Buffer.from(JSON.stringify({ type: 'route', from: 'a', to: 'b', task_id: '', payload: 'x'.repeat(size), id: 'i' }));
  reader.room = 0;
  mailbox.attach(sink, true);
  await say(frame(10));
  const late = [await commit(frame(20)), await commit(frame(30)), await commit(frame(40))];
  reader.room = 100;
  mailbox.feed();
  await expect.poll(() => taken.length).toBe(3);
  late[0]?.();
  mailbox.ackUpTo(2);
  await expect.poll(() => taken.length).toBe(4);
  late[1]?.();
  mailbox.ackUpTo(3);
  late[2]?.();
  await say(frame(50));
  await expect.poll(() => taken.length).toBe(5);
  expect(taken.map(({ lsn }) => lsn)).toEqual([1, 2, 3, 4, 5]);
  expect([mailbox.depth, mailbox.inflight, mailbox.last]).toEqual([2, 2, 5]);
  mailbox.ackUpTo(5);
  expect([mailbox.depth, mailbox.bytes, mailbox.inflight]).toEqual([0, 0, 0]);
});

test('R-HUB-53: what finds no room in the memory of all mailboxes is read from the log, in order and once', async () => {
  const memory = new MailboxMemory(1000, 500);
  const one = await stage({ memory });
  const other = await stage({ memory });
  const third = await stage({ memory });
  const sizes = Array.from({ length: 40 }, (_, index) => 20 + index);
  const stages = [one, other, third];
  for (const { mailbox, sink, reader, say } of stages) {
    reader.room = 0;
    mailbox.attach(sink, true);
    await say(...sizes.map((size) => Buffer.alloc(size, 'x')));
  }
  // Two have their share, and nothing is left for the third.
  expect(memory.take(30, 0)).toBe(false);
  for (const { mailbox, reader, taken } of stages) {
    reader.room = Number.POSITIVE_INFINITY;
    mailbox.feed();
    await expect.poll(() => taken.length).toBe(sizes.length);
    expect(taken.map(({ body }) => body.length)).toEqual(sizes);
  }
  expect(memory.take(500, 0)).toBe(true);
});

test('R-HUB-53: messages under way are let go of by number or by id, and the rest follows', async () => {
  const { mailbox, sink, taken, say } = await stage({ maxInflight: 3 });
  mailbox.attach(sink, true);
  await say(...[1, 2, 3, 4, 5, 6].map((size) => Buffer.alloc(size)));
  expect(taken).toHaveLength(3);
  mailbox.ackIds(['i2', 'i3']);
  expect([taken.length, mailbox.acked]).toEqual([3, 0]);
  expect(mailbox.ackUpTo(1)).toBe(true);
  expect([taken.length, mailbox.acked, mailbox.depth, mailbox.inflight]).toEqual([6, 3, 3, 3]);
  expect(mailbox.ackUpTo(7)).toBe(false);
  mailbox.detach();
  mailbox.attach(sink, true);
  await expect.poll(() => taken.map(({ lsn }) => lsn)).toEqual([1, 2, 3, 4, 5, 6, 4, 5, 6]);
});

test('R-HUB-53: what comes while a late store finds nothing is handed over all the same', async () => {
  const { storage } = await openStorage(':memory:');
  const gates: (() => void)[] = [];
  const late: Pick<typeof storage, 'mailbox'> = {
    mailbox: async (...asked) => {
      const page = await storage.mailbox(...asked);
      await new Promise<void>((resolve) => gates.push(resolve));
      return page;
    },
  };
  const limits = { maxInflight: 9, maxInflightBytes: 999, memory: new MailboxMemory(1000, 1000) };
  await storage.commit([{ kind: 'message', row: rowFor('other') }], 1);
  const mailbox = new Mailbox('b', { acked: 0, depth: 0, bytes: 0, last: 1 }, { ...storage, ...late }, limits);
  const taken: number[] = [];
  mailbox.attach({ full: () => false, deliver: ({ lsn }) => taken.push(lsn) }, true);
  await expect.poll(() => gates.length).toBe(1);
  const row = rowFor('b');
  const [lsn = 0] = await storage.commit([{ kind: 'message', row }], 1);
  mailbox.push({ ...row, lsn, ts: 1 });
  gates.shift()?.();
  await expect.poll(() => gates.length).toBe(1);
  gates.shift()?.();
  await expect.poll(() => taken).toEqual([lsn]);
});

function rowFor(box: string) {
  return { type: 'route', from: 'a', to: box, box, taskId: '', id: 'i', attempt: null, body: Buffer.from('{}') };
}

test('R-HUB-53: a queue gives what it was given, in order, however long it becomes', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: -3000, max: -1 }))), (steps) => {
      const queue = new Queue<number>();
      let given = 0;
      let taken = 0;
      for (const step of steps) {
        for (let count = 0; count < step; count += 1) queue.push(given++);
        for (let count = 0; count < -step && taken < given; count += 1) expect(queue.shift()).toBe(taken++);
        expect(queue.length).toBe(given - taken);
        expect(queue.first).toBe(taken < given ? taken : undefined);
      }
      expect([...queue]).toEqual(Array.from({ length: given - taken }, (_, index) => taken + index));
    }),
    { numRuns: 50 },
  );
});

test('R-HUB-53: of large messages a mailbox keeps 1 MiB in memory, of small ones all it may; the rest comes from the log, in order', async () => {
  const memory = new MailboxMemory(100_000_000, 100_000_000);
  const { mailbox, sink, reader, taken, say } = await stage({ memory, maxInflight: 10_000 });
  reader.room = 0;
  mailbox.attach(sink, true);
  const frame = (size: number) =>
    Buffer.from(JSON.stringify({ type: 'route', from: 'a', to: 'b', task_id: '', payload: 'x'.repeat(size), id: 'i' }));
  const [small, large] = [frame(10_000), frame(100_000)];
  expect(memory.take(small.length, 2_000_000)).toBe(true);
  expect(memory.take(large.length, 900_000)).toBe(true);
  expect(memory.take(large.length, 1_000_000)).toBe(false);
  await say(...Array.from({ length: 30 }, () => large), small);
  reader.room = Number.POSITIVE_INFINITY;
  mailbox.feed();
  await expect.poll(() => taken.length).toBe(31);
  expect(taken.map(({ lsn }) => lsn)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));
});
