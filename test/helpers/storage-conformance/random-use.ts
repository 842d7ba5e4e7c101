import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change, DeadLetter, Storage } from '../../../hub/storage.ts';
import { ModelStorage } from './model.ts';
import { allOf, expectSame, mailOf, type Open, type OpenedStorage } from './opened.ts';
import { message, session, task } from './rows.ts';

const boxes = ['b', 'c', 'd'];
const tasks = ['', 'run', 'run.t1', 'run.t1.x', 'runner'];
const states = ['queued', 'working', 'done', 'failed'] as const;

const box = fc.constantFrom(...boxes);
const taskId = fc.constantFrom(...tasks);
/** A place in the log: so many messages before its end. */
const back = fc.nat(60);

const said = fc.record({
  type: fc.constantFrom('route', 'task.event', 'task.result'),
  from: fc.constantFrom('a', 'b', 'hub'),
  to: fc.constantFrom('b', 'role:coder', '*'),
  box: fc.option(box),
  taskId,
  attempt: fc.option(fc.nat(3)),
  payload: fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.jsonValue(),
    fc.nat(200).map((size) => '汉'.repeat(size)),
  ),
  spaced: fc.boolean(),
});

const change = fc.oneof(
  { weight: 6, arbitrary: said.map((of) => ({ kind: 'message', of }) as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('many' as const), of: said, count: fc.nat(120) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('task' as const),
      taskId: fc.constantFrom(...tasks.slice(1)),
      subState: fc.constantFrom(...states),
      attempt: fc.nat(2),
      wrong: fc.nat(20).map((one) => one === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('session' as const), name: box, back }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cursor' as const), name: box, back }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget_session' as const), name: box }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dead' as const), box, after: back, upto: back }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop_dead' as const), back: fc.array(back) }) },
);

const operation = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('commit' as const), changes: fc.array(change, { maxLength: 8 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      box,
      taskId,
      back,
      limit: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('trim' as const), back }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
type Wish = Extract<Operation, { kind: 'commit' }>['changes'][number];

const RUN = 100;

/** Random use, compared with a model after every step. */
export function describeRandomUse(open: Open, operations: number): void {
  test(
    `R-HUB-40: ${operations} random operations do what they do to a model`,
    async () => {
      const script = fc.array(operation, { minLength: RUN, maxLength: RUN, size: 'max' });
      const follows = async (steps: readonly Operation[]) => {
        const store = await open();
        try {
          await follow(store, steps);
        } finally {
          await store.destroy();
        }
      };
      await fc.assert(fc.asyncProperty(script, follows), { numRuns: Math.ceil(operations / RUN), endOnFailure: true });
    },
    Math.max(90_000, operations * 90),
  );
}

async function follow({ storage: first, reopen }: OpenedStorage, steps: readonly Operation[]): Promise<void> {
  const model = new ModelStorage();
  let storage = first;
  for (const [ts, step] of steps.entries()) {
    if (step.kind === 'commit') await commit(storage, model, step.changes, ts + 1);
    else if (step.kind === 'read') await read(storage, model, step);
    else if (step.kind === 'trim') await trim(storage, model, placeOf(model, step.back).ts);
    else if (reopen !== undefined) storage = await reopen();
    expect(await storage.lastLsn()).toBe(model.last);
  }
  expectSame(await allOf(storage), model.messages);
}

async function commit(storage: Storage, model: ModelStorage, wishes: readonly Wish[], ts: number): Promise<void> {
  const changes = wishes.flatMap((wish) => changesOf(wish, model));
  if (!model.allows(changes)) {
    await expect(storage.commit(changes, ts)).rejects.toThrow();
    return;
  }
  const lsns = await storage.commit(changes, ts);
  expect(lsns.every((lsn, index) => lsn > (lsns[index - 1] ?? model.last))).toBe(true);
  model.commit(changes, ts, lsns);
}

async function read(
  storage: Storage,
  model: ModelStorage,
  { box, taskId, back, limit }: Extract<Operation, { kind: 'read' }>,
): Promise<void> {
  const { lsn: after } = placeOf(model, back);
  // Not more than some twenty pages, however long the log is.
  const page = Math.max(limit, Math.ceil(model.messages.length / 20));
  expectSame(await mailOf(storage, box, after, page), model.mail(box, after));
  expect(await storage.mailboxFacts(box, after)).toEqual(model.facts(box, after));
  expect(await storage.at(after)).toEqual(model.messages.find(({ lsn }) => lsn === after));
  const filters = [
    {},
    { taskId },
    { taskId, tree: true, type: 'route' },
    { agent: box },
    { type: 'task.event' },
    { agent: box, type: 'route' },
  ];
  // two of them each time, which chance makes all of them
  for (const filter of [filters[limit % filters.length], filters[back % filters.length]]) {
    if (filter === undefined || filter.taskId === '') continue;
    expectSame(await allOf(storage, filter, { after, limit: page }), model.found(filter, after));
    expectSame(await storage.latest(filter, limit), model.found(filter).slice(-limit));
    const earlier = model.found(filter).filter(({ lsn }) => lsn < after);
    expectSame(await storage.latest(filter, limit, after), earlier.slice(-limit));
  }
  const ofTask = model.messages.find((one) => one.taskId === taskId && one.lsn > after);
  if (ofTask !== undefined && taskId !== '') expect(await storage.byTask(taskId, ofTask.id)).toEqual(ofTask);
  const ids = model.messages.filter(({ from }) => from === box).map(({ id, lsn }) => ({ id, lsn }));
  expect(await storage.recentIds(box, limit)).toEqual(ids.slice(-limit));
  expect(await storage.positionAt(back)).toBe(model.messages.filter(({ ts }) => ts <= back).at(-1)?.lsn ?? 0);
  for (const { lsn } of model.messages.slice(-5)) expect(await storage.wasGivenUp(lsn)).toBe(model.givenUp.has(lsn));
  const [letters, expected] = [await storage.deadLetters(after, 1000), model.letters(after)];
  expect(letters.map(bare)).toEqual(expected.map(bare));
  expectSame(
    letters.map(({ message }) => message),
    expected.map(({ message }) => message),
  );
  expect(byName(await storage.sessions())).toEqual(byName([...model.sessions.values()]));
  expect(await storage.task(taskId)).toEqual(model.tasks.get(taskId));
}

/** A store may keep more than it must, for instance what was committed together; it may not keep less. */
async function trim(storage: Storage, model: ModelStorage, before: number): Promise<void> {
  const gone = await storage.trim({ before });
  const left = await allOf(storage);
  const there = new Set(left.map(({ lsn }) => lsn));
  const missing = model.messages.filter((one) => !there.has(one.lsn) && (one.ts >= before || model.keeps(one)));
  expectSame(missing, []);
  const kept = model.messages.filter(({ lsn }) => there.has(lsn));
  expectSame(left, kept);
  expect(gone).toBe(model.messages.length - kept.length);
  model.messages = kept;
}

function changesOf(wish: Wish, model: ModelStorage): Change[] {
  const lsn = (back: number) => placeOf(model, back).lsn;
  switch (wish.kind) {
    case 'message':
      return [message(wish.of)];
    case 'many':
      return Array.from({ length: wish.count }, () => message(wish.of));
    case 'task': {
      const now = model.tasks.get(wish.taskId);
      const record = task(wish.taskId, { subState: wish.subState, attempt: wish.attempt });
      const expected = now === undefined ? null : { attempt: now.attempt, subState: now.subState };
      return [{ kind: 'task', task: record, expect: wish.wrong ? { attempt: 9, subState: 'offered' } : expected }];
    }
    case 'session':
      return [session(wish.name, lsn(wish.back))];
    case 'cursor':
      return [{ kind: 'cursor', name: wish.name, acked: lsn(wish.back) }];
    case 'forget_session':
      return [wish];
    case 'dead':
      return [{ kind: 'dead', box: wish.box, after: lsn(wish.after), upto: lsn(wish.upto), reason: 'expired' }];
    case 'drop_dead':
      return [{ kind: 'drop_dead', lsns: wish.back.map(lsn) }];
    default:
      return wish satisfies never;
  }
}

function placeOf(model: ModelStorage, back: number): { lsn: number; ts: number } {
  return model.messages.at(-1 - back) ?? { lsn: 0, ts: 0 };
}

function byName<T extends { readonly name: string }>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function bare({ lsn, box, reason, diedAt }: DeadLetter): Omit<DeadLetter, 'message'> {
  return { lsn, box, reason, diedAt };
}
