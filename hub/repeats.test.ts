import { expect, test } from 'vitest';
import { join1, testHub } from '../test/helpers/hub.ts';
import { Recent } from './recent.ts';

test('R-HUB-52: a sender that repeats itself is recognised, however much others said meanwhile', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const quiet = await join1(hub, 'quiet');
  const loud = await join1(hub, 'loud');
  const route = { type: 'route', to: 'quiet', id: 'mine', payload: 1 };
  quiet.send({ ...route, to: 'loud' });
  quiet.acks = false;
  // Bare events of a run are logged and reach nobody, so that many of them are quick.
  const count = 10_000;
  for (let index = 0; index < count; index += 1) {
    loud.send({ type: 'task.event', task_id: 'run', id: `l${index}`, payload: { event: { type: 'noted', text: '' } } });
  }
  await loud.wait(({ type, payload }) => type === 'accepted' && payload.upto === count + 1);
  quiet.send({ ...route, to: 'loud' });
  expect((await quiet.next('accepted', ({ payload }) => payload.duplicates)).payload.duplicates).toEqual(['mine']);
});

test('R-HUB-52: the last 4,096 ids of a sender are known, before and after the log was asked', () => {
  const recent = new Recent();
  for (let index = 0; index < 20_000; index += 1) recent.set(`i${index}`, index + 1);
  for (let index = 20_000 - 4096; index < 20_000; index += 1) expect(recent.find(`i${index}`)).toBe(index + 1);
  expect(recent.find('i0')).toBeUndefined();
  const asked = new Recent();
  asked.set('new', 0);
  asked.fill(Array.from({ length: 4096 }, (_, index) => ({ id: `i${index}`, lsn: index + 1 })));
  asked.set('newer', 9000);
  expect(['i0', 'i4095', 'new', 'newer'].map((id) => asked.find(id))).toEqual([1, 4096, 0, 9000]);
});
