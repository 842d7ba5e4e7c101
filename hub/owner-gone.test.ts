import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { assign, crew, statusOf, submit, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { helloPeer, type Peer } from '../test/helpers/peer.ts';
import { type RunningHub, startHub } from './index.ts';

/** Two workers, and a question about `t1`, which has the only slot: its owner is `asked`. */
async function asking(hub: RunningHub) {
  const asked = await join1(hub, 'asked');
  const { owner: other, workers: others } = await crew(hub, 'coder-2');
  const { peer: first, welcome } = await helloPeer(hub.url, 'coder-1', { roles: ['coder'] });
  const workers = [first, ...others] as const;
  assign(asked, 't1', {}, 'coder-1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'which?' } });
  await asked.next('task.input');
  await asked.ping();
  const { session, resume_token, epoch, seq } = welcome.payload;
  return { asked, other, workers, resume: { session, resume_token, epoch, seq } };
}

async function sayGoodbye(peer: Peer): Promise<void> {
  peer.send({ type: 'bye', payload: {} });
  await peer.end();
}

test('R-HUB-106: a question to an owner that is away holds no slot after the grace, and goes on when the owner is back', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, concurrency: 1, clocks: { ping: 1e9 } });
  const { asked, other, workers } = await asking(hub);
  assign(other, 't2');
  expect(await taskRow(other, 't2')).toMatchObject({ sub_state: 'queued' });
  await asked.close();
  clock.advance(29_999);
  expect(await taskRow(other, 't2')).toMatchObject({ sub_state: 'queued' });
  clock.advance(1);
  await takeUp(workers[1]);
  expect(await taskRow(other, 't1')).toMatchObject({ sub_state: 'input_required', agent: 'coder-1', attempt: 1 });
  const back = await join1(hub, 'asked');
  back.send({ type: 'task.answer', task_id: 't1', payload: { text: 'the first' } });
  expect((await workers[0].next('task.answer')).payload.text).toBe('the first');
  // Both are at work now: a third waits until both are done.
  assign(other, 't3');
  submit(workers[0], 't1');
  expect((await back.next('task.result')).payload.status).toBe('success');
  expect(await taskRow(other, 't3')).toMatchObject({ sub_state: 'queued' });
  submit(workers[1], 't2');
  await statusOf(other, 'offered');
});

test('R-HUB-106: a slot is free at once when the owner of a question says goodbye, and what hangs below the question needs its own', async () => {
  const hub = await testHub({ concurrency: 1 });
  const { asked, other, workers } = await asking(hub);
  assign(asked, 't1.a', { parent: 't1' });
  await takeUp(workers[1]);
  const third = await join1(hub, 'coder-3', { roles: ['coder'] });
  assign(other, 't2');
  await sayGoodbye(asked);
  expect(await taskRow(other, 't2')).toMatchObject({ sub_state: 'queued' });
  submit(workers[1], 't1.a');
  expect(await Promise.race([takeUp(third), takeUp(workers[1])])).toMatchObject({ task_id: 't2' });
});

test('R-HUB-106: after a restart the owner of a question has the grace to come back before its slot is given away', async () => {
  const database = join(await testFolder(), 'log.db');
  const before = await startHub({ port: 0, database, log: silentLog(), concurrency: 1 });
  const { other, resume } = await asking(before);
  assign(other, 't2', {}, 'coder-3');
  await other.ping();
  await before.close();
  const clock = manualClock();
  const hub = await testHub({ database, clock, concurrency: 1, clocks: { ping: 1e9 } });
  await join1(hub, 'coder-1', { resume });
  const worker = await join1(hub, 'coder-3');
  clock.advance(29_999);
  expect(await taskRow(worker, 't2')).toMatchObject({ sub_state: 'queued' });
  clock.advance(1);
  expect(await worker.next('task.assign')).toMatchObject({ task_id: 't2' });
});

test('R-HUB-106: a question asked after its owner has gone frees the slot at once', async () => {
  const hub = await testHub({ concurrency: 1 });
  const asked = await join1(hub, 'asked');
  const { owner: other, workers } = await crew(hub, 'coder-1', 'coder-2');
  assign(asked, 't1', {}, 'coder-1');
  await takeUp(workers[0]);
  await sayGoodbye(asked);
  assign(other, 't2', {}, 'coder-2');
  expect(await taskRow(other, 't2')).toMatchObject({ sub_state: 'queued' });
  workers[0].send({ type: 'task.input', task_id: 't1', attempt: 1, payload: { question: 'which?' } });
  await takeUp(workers[1]);
});
