import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HubPair, startHubPair } from '../test/helpers/hub-pair.ts';
import { once } from './effects.ts';
import { type Journal, openJournal } from './journal.ts';

const runKey = '0011aabbccddeeff';
let pair: HubPair;
beforeEach(async () => {
  pair = await startHubPair();
});
afterEach(() => pair.close());

const open = async (): Promise<Journal> =>
  openJournal(await pair.connect('coordinator'), runKey, ['coordinator', 'gateway'], () => {});
const failLost = (error: unknown): never => {
  throw error;
};

test('R-RUN-9: what was written is in the record when the write resolves, and in that of the next process', async () => {
  const client = await pair.connect('coordinator');
  const journal = await openJournal(client, runKey, ['coordinator'], failLost);
  await journal.write({ type: 'step.entered', step: 'work' });
  await journal.write({ type: 'comment.noted', body: '注意', by: 'coordinator' }, `${runKey}.code`);
  expect(journal.record.step).toBe('work');
  await client.close();
  const next = await open();
  expect(next.record.step).toBe('work');
  expect(next.record.notes).toEqual([{ body: '注意', by: 'coordinator' }]);
});

test('R-RUN-9: what the gateway writes is followed, and other runs are not', async () => {
  const journal = await open();
  const gateway = await pair.connect('gateway');
  const seen = new Promise<void>((resolve) => journal.onChange(resolve));
  const usage = { input: 10, output: 2, cached: 0, thinking: 0 };
  const event = {
    type: 'usage.recorded',
    role: 'coder',
    agent: 'coder-1',
    attempt: 1,
    turn: 0,
    model: 'm',
    ok: true,
    usage,
    ms: 5,
  };
  await gateway.send({ type: 'task.event', to: 'hub', task_id: 'ffff000011112222', payload: { event } });
  await gateway.send({ type: 'task.event', to: 'hub', task_id: `${runKey}.code`, payload: { event } });
  await seen;
  expect(journal.record.usage).toMatchObject([
    { role: 'coder', model: 'm', calls: 1, input: 10, output: 2, estimated: 0 },
  ]);
});

test('R-RUN-11: an effect is done once, whoever asks again', async () => {
  const journal = await open();
  let acts = 0;
  const effect = {
    key: 'pull:x',
    kind: 'pull' as const,
    content: 'x',
    find: async () => undefined,
    act: async () => {
      acts += 1;
      return { number: '7' };
    },
  };
  expect(await once(journal, effect)).toEqual({ number: '7' });
  expect(await once(journal, effect)).toEqual({ number: '7' });
  expect(acts).toBe(1);
});

test('R-RUN-11: an effect that was meant before a crash is looked for and not repeated', async () => {
  const client = await pair.connect('coordinator');
  const journal = await openJournal(client, runKey, ['coordinator'], failLost);
  const dies = once(journal, {
    key: 'comment:claim',
    kind: 'comment',
    content: 'x',
    find: async () => undefined,
    act: async () => Promise.reject(new Error('killed after the comment was posted')),
  });
  await expect(dies).rejects.toThrow('killed');
  await client.close();

  const next = await open();
  const found = await once(next, {
    key: 'comment:claim',
    kind: 'comment',
    content: 'x',
    find: async () => ({ id: '11' }),
    act: async () => Promise.reject(new Error('posted twice')),
  });
  expect(found).toEqual({ id: '11' });
  expect(next.record.effects.get('comment:claim')).toMatchObject({ done: true, result: { id: '11' } });
});
