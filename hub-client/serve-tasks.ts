import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import { sleep } from '../base/time.ts';
import { type FrameOf, TaskResultPayload } from '../protocol/index.ts';
import { type AssignedTask, isFenced, RunningTask } from './assigned-task.ts';
import type { HeldTask, HubClient } from './hub-client.ts';
import { retryPause } from './retry-pause.ts';
import { wireCode } from './wire-error.ts';

export type { AssignedTask } from './assigned-task.ts';

export interface ServeOptions {
  /** Shortest time between two signs of life, ms; default 20,000. */
  readonly progressMs?: number;
  /** How long the hub may be gone before the work is given up, ms; default 30,000, as the hub waits. */
  readonly graceMs?: number;
  /** How long stopping waits for work that ignores its signal, ms; default 10,000. */
  readonly stopMs?: number;
}

type Work = (task: AssignedTask) => Promise<z.input<typeof TaskResultPayload>>;

/**
 * Takes the tasks that the hub offers, as many at once as the client said, and sends what `work` returns. What `work`
 * throws becomes a `failed` result. A result is sent until the hub took it or has moved on to another attempt. What the hub
 * takes for this client's and nobody works on is given back at once. The
 * returned function stops: work that runs is aborted, waited for and given back to the hub.
 */
export function serveTasks(client: HubClient, work: Work, options: ServeOptions = {}): () => Promise<void> {
  const { progressMs = 20_000, graceMs = 30_000, stopMs = 10_000 } = options;
  const { log, clock } = client;
  const running = new Map<string, RunningTask>();
  const ending = new Set<Promise<void>>();
  let stopping = false;
  let grace: { cancel(): void } | undefined;

  const cutAll = (message: string): void => {
    for (const task of running.values()) task.cutShort('lost', message);
  };

  const decline = async (frame: FrameOf<'task.assign'>, reason: string): Promise<void> => {
    const { task_id, attempt } = frame;
    await client.send({ type: 'task.decline', to: 'hub', task_id, ...(attempt && { attempt }), payload: { reason } });
  };

  const take = async (frame: FrameOf<'task.assign'>): Promise<void> => {
    const { task_id, attempt = 1 } = frame;
    for (let before = running.get(task_id); before; before = running.get(task_id)) {
      if (before.attempt >= attempt) return;
      // two attempts must never work in one tree
      before.cutShort('lost', `Attempt ${attempt} of this task has begun.`);
      await before.settled;
      if (running.get(task_id) === before) running.delete(task_id);
    }
    if (stopping) return decline(frame, 'stopping');
    // a task whose result is on its way takes no place: the hub may offer the next before it says that it has the result
    if (count(running.values(), (task) => !task.finished) >= client.maxConcurrency) return decline(frame, 'busy');
    const task = new RunningTask(client, frame, progressMs);
    running.set(task_id, task);
    const accepted = client.send(task.frame('task.accept', {}));
    const done = accepted
      .then(
        () => carry(client, task, work),
        (err: unknown) => log.info({ err, taskId: task_id }, 'the offer is gone'),
      )
      .finally(() => {
        task.finish();
        ending.delete(done);
        if (running.get(task_id) === task) running.delete(task_id);
      });
    ending.add(done);
    await accepted.catch(() => {}); // told above
  };

  /** Gives back what the hub takes for ours and nobody here works on, such as what an earlier process had: it would lie idle. */
  const giveBack = ({ task_id, attempt }: HeldTask): void => {
    const task = running.get(task_id);
    if (task?.attempt === attempt && task.cut !== 'lost') return;
    const payload = { reason: 'the worker has no work for it' };
    (task?.settled ?? Promise.resolve())
      .then(() => client.send({ type: 'task.release', to: 'hub', task_id, attempt, payload }))
      .catch((err: unknown) => log.info({ err, taskId: task_id }, 'a task could not be given back'));
  };

  const removers = [
    client.on('task.assign', take),
    client.on('task.cancel', ({ task_id, attempt, from, payload }) => {
      const task = running.get(task_id);
      if (!task || (attempt ?? task.attempt) !== task.attempt) return;
      // the hub itself cancels what it has given up; only an owner waits for an answer
      if (from === 'hub') task.cutShort('lost', `The hub ended this attempt: ${payload.reason}`);
      else task.cutShort('cancelled', `Cancelled: ${payload.reason}`);
    }),
    client.onState((state) => {
      if (state === 'lost') grace ??= clock.after(graceMs, () => cutAll('The hub has been gone for too long.'));
      if (state === 'closed') cutAll('The hub is gone for good.');
      if (state !== 'connected') return;
      grace?.cancel();
      grace = undefined;
      for (const task of running.values()) {
        if (task.session === client.session) task.reconnected();
        else task.cutShort('lost', 'The hub no longer knows this session.');
      }
      client.held.forEach(giveBack);
    }),
  ];
  client.held.forEach(giveBack);

  return async () => {
    stopping = true;
    for (const task of running.values()) task.cutShort('stopped', 'This worker stops.');
    const limit = new AbortController();
    await Promise.race([Promise.allSettled([...ending]), sleep(stopMs, limit.signal).catch(() => {})]);
    limit.abort();
    grace?.cancel();
    for (const remove of removers) remove();
  };
}

/** Does the work and sees to its result. */
async function carry(client: HubClient, task: RunningTask, work: Work): Promise<void> {
  let result: TaskResultPayload;
  try {
    task.signal.throwIfAborted(); // cancelled before it was begun
    const given = TaskResultPayload.safeParse(await work(task));
    result = given.success
      ? given.data
      : failed(`The worker's result has a wrong shape: ${z.prettifyError(given.error)}`);
  } catch (error) {
    if (!task.cut) client.log.error({ err: error, taskId: task.id }, 'work threw');
    result = failed(messageOf(task.cut ? task.signal.reason : error));
  }
  task.finish();
  try {
    if (task.cut === 'stopped') await client.send(task.frame('task.release', { reason: 'the worker stops' }));
    else if (task.cut !== 'lost') await deliver(client, task, result);
  } catch (err) {
    client.log.warn({ err, taskId: task.id, attempt: task.attempt }, 'the hub did not take the end of a task');
  }
}

/** Sends the result until it is accepted; rejects when this attempt is no longer asked for. */
async function deliver(client: HubClient, task: RunningTask, result: TaskResultPayload): Promise<void> {
  const frame = { ...task.frame('task.result', result), id: uuid() };
  for (let tries = 0; ; tries += 1) {
    try {
      await client.send(frame);
      return;
    } catch (error) {
      const pause = isFenced(error) ? undefined : retryPause(error, tries);
      if (pause !== undefined) await sleep(pause);
      else if (wireCode(error) === 'too_large' && tries === 0)
        return deliver(client, task, failed(`The result was not sent. ${messageOf(error)}`));
      else throw error;
    }
  }
}

function count<T>(items: Iterable<T>, wanted: (item: T) => boolean): number {
  return [...items].filter(wanted).length;
}

function failed(summary: string): TaskResultPayload {
  return { status: 'failed', summary: summary.slice(0, 2000), artifacts: [], issues: [] };
}
