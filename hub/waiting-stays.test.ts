import { expect, test } from 'vitest';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { watchedStorage } from '../test/helpers/watched-storage.ts';

test('R-HUB-47: what a connected level-0 peer has not read yet stays when the log is trimmed', async () => {
  const clock = manualClock();
  const { openStorage, storage } = watchedStorage();
  const hub = await testHub({
    clock,
    openStorage,
    clocks: { ping: 3_600_000 },
    limits: { rate: 0, softBuffer: 64 * 1024 },
    retention: { bytes: 1024 * 1024 },
  });
  const sender = await join1(hub, 'sender');
  const slow = await join0(hub, 'slow');
  slow.socket.pause();
  const text = 'x'.repeat(64 * 1024);
  for (let index = 0; index < 50; index += 1) sender.send({ type: 'route', to: 'sender', payload: { text } });
  for (let index = 0; index < 200; index += 1) sender.send({ type: 'route', to: 'slow', payload: { index, text } });
  await sender.wait(({ type, payload }) => type === 'accepted' && payload.upto >= 251);
  clock.advance(60_000);
  await expect.poll(() => storage().at(1)).toBeUndefined();
  slow.socket.resume();
  await slow.wait(({ payload }) => payload?.index === 199);
  expect(slow.frames.map(({ payload }) => payload.index)).toEqual(Array.from({ length: 200 }, (_, index) => index));
});
