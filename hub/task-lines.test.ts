import { expect, test } from 'vitest';
import { assign, statusOf, submit, takeUp } from '../test/helpers/crew.ts';
import { join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { watchedStorage } from '../test/helpers/watched-storage.ts';
import { TaskLines, type Waiter } from './task-lines.ts';

/** A task that counts how often it is looked at. */
class CountedTask implements Waiter {
  static looks = 0;
  readonly number: number;
  backingOff = false;
  readonly #record: Waiter['record'];

  constructor(number: number, record: Partial<Waiter['record']> = {}) {
    this.number = number;
    this.#record = { target: 'role:coder', priority: 0, created: 1, ...record };
  }

  get record(): Waiter['record'] {
    CountedTask.looks += 1;
    return this.#record;
  }
}

/** How often tasks are looked at while `count` come, one after the other, and are offered one after the other. */
function looks(count: number): number {
  const lines = new TaskLines<CountedTask>(manualClock(), 1000, () => undefined);
  CountedTask.looks = 0;
  for (let number = 0; number < count; number += 1) {
    lines.place(new CountedTask(number, { created: number }), false);
    lines.judge(new Set(['role:tester']), true);
    lines.first(['role:tester'], true);
  }
  for (let number = 0; number < count; number += 1) {
    const first = lines.first(['role:coder'], true) as CountedTask;
    expect(first.number).toBe(number);
    lines.remove(first);
  }
  expect(lines.size).toBe(0);
  return CountedTask.looks;
}

test('R-HUB-69: four times as many tasks that wait are looked at four times as often, not sixteen times', () => {
  expect(looks(4000) / looks(1000)).toBeLessThan(6);
});

test('R-HUB-69: a line is kept by priority, then age, whenever its tasks come', () => {
  const lines = new TaskLines<CountedTask>(manualClock(), 0, () => undefined);
  const tasks = [
    new CountedTask(1, { created: 5 }),
    new CountedTask(2, { created: 3 }),
    new CountedTask(3, { priority: 2, created: 9 }),
    new CountedTask(4, { created: 3 }),
  ];
  for (const task of tasks) lines.place(task, false);
  const order: number[] = [];
  for (let first = lines.first(['role:coder'], true); first; first = lines.first(['role:coder'], true)) {
    order.push(first.number);
    lines.remove(first);
  }
  expect(order).toEqual([3, 2, 4, 1]);
});

test('R-HUB-69: the wait counts only while there is room and nobody is there, and backing off is part of it', () => {
  const clock = manualClock();
  const expired: number[] = [];
  const lines = new TaskLines<CountedTask>(clock, 100, (task) => {
    expired.push(task.number);
    lines.remove(task);
  });
  const nobody = new Set<string>();
  lines.judge(nobody, true);
  const [early, late, riding] = [new CountedTask(1), new CountedTask(2), new CountedTask(3)];
  early.backingOff = true;
  lines.place(early, false);
  clock.advance(40);
  lines.place(late, false);
  lines.place(riding, true);
  lines.judge(nobody, false);
  clock.advance(99);
  expect(expired).toEqual([]);
  clock.advance(1);
  expect(expired).toEqual([3]);
  lines.judge(nobody, true);
  clock.advance(59);
  expect(expired).toEqual([3]);
  clock.advance(1);
  expect(expired).toEqual([3, 1]);
  lines.judge(new Set(['role:coder']), true);
  clock.advance(1000);
  lines.judge(nobody, true);
  clock.advance(39);
  expect(expired).toEqual([3, 1]);
  clock.advance(1);
  expect(expired).toEqual([3, 1, 2]);
});

test('R-HUB-69: a client has so many tasks that are not over and no more; one that ends makes room', async () => {
  const hub = await testHub({ limits: { openTasks: 2 } });
  const owner = await join1(hub, 'owner');
  const other = await join1(hub, 'other');
  assign(owner, 't1');
  owner.send({ type: 'register_task', task_id: 't2' });
  const refused = assign(owner, 't3');
  expect(await owner.next('error')).toMatchObject({ ref: refused, payload: { code: 'mailbox_full', retryable: true } });
  owner.send({ type: 'register_task', task_id: 't4' });
  expect((await owner.next('error')).payload.code).toBe('mailbox_full');
  assign(owner, 't2');
  assign(other, 'mine');
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: 'enough' } });
  await statusOf(owner, 'cancelled');
  assign(owner, 't3');
  await owner.ping();
  expect(owner.frames.filter(({ type }) => type === 'error')).toEqual([]);
});

test('R-HUB-69: what is not in memory of a task is read from the log when it is offered', async () => {
  const database = `${await testFolder()}/hub.db`;
  const { openStorage, storage } = watchedStorage();
  const first = await testHub({ database });
  const owner = await join1(first, 'owner');
  assign(owner, 't1', { priority: 1 });
  owner.send({ type: 'register_task', task_id: 't2' });
  await owner.ping();
  await first.close();
  const hub = await testHub({ database, openStorage });
  expect((await storage().task('t1'))?.subState).toBe('queued');
  const worker = await join1(hub, 'coder-1', { roles: ['coder'] });
  expect(await takeUp(worker)).toMatchObject({ task_id: 't1', payload: { goal: 'do t1', options: { priority: 1 } } });
  submit(worker, 't1');
});

test('R-HUB-69: a burst of tasks is offered one after the other; one that names itself as parent has no slot for nothing', async () => {
  const hub = await testHub({ concurrency: 1, limits: { rate: 0 } });
  const owner = await join1(hub, 'owner');
  const worker = await join1(hub, 'coder-1', { roles: ['coder'], max_concurrency: 5 });
  assign(owner, 'own', { parent: 'own' });
  for (let count = 0; count < 500; count += 1) assign(owner, `t${count}`);
  await owner.ping();
  expect((await worker.next('task.assign')).task_id).toBe('own');
  await worker.ping();
  expect(worker.frames.some(({ type }) => type === 'task.assign')).toBe(false);
  submit(worker, 'own');
  for (let count = 0; count < 20; count += 1) {
    expect((await worker.next('task.assign')).task_id).toBe(`t${count}`);
    submit(worker, `t${count}`);
  }
});
