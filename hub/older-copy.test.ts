import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { join1, testFolder, testHub } from '../test/helpers/hub.ts';
import { helloPeer, type Peer, type PeerFrame } from '../test/helpers/peer.ts';
import { watchedStorage } from '../test/helpers/watched-storage.ts';
import { startHub } from './index.ts';

function pointOf(welcome: PeerFrame, seq: number = welcome.payload.seq) {
  const { session, resume_token, epoch } = welcome.payload;
  return { resume: { session, resume_token, epoch, seq } };
}

/** Sends numbers to `a` and waits until the hub has them. */
async function say(sender: Peer, ...numbers: number[]): Promise<void> {
  for (const payload of numbers) sender.send({ type: 'route', to: 'a', payload });
  await sender.ping();
}

/** A hub on a copy of its database that was made after two of four messages; with what `a` had of it, all four. */
async function restored() {
  const folder = await testFolder();
  const [database, copy] = [join(folder, 'log.db'), join(folder, 'copy.db')];
  const start = () => startHub({ port: 0, database, log: silentLog() });
  let hub = await start();
  const { peer, welcome } = await helloPeer(hub.url, 'a');
  await say(await join1(hub, 'sender'), 1, 2);
  await peer.next('route', ({ payload }) => payload === 2);
  await peer.ping();
  await hub.close();
  await copyFile(database, copy);
  hub = await start();
  const back = await helloPeer(hub.url, 'a', pointOf(welcome, 2));
  await say(await join1(hub, 'sender'), 3, 4);
  const { seq } = await back.peer.next('route', ({ payload }) => payload === 4);
  await back.peer.ping();
  await hub.close();
  return { hub: await testHub({ database: copy }), point: pointOf(back.welcome, seq), had: seq as number };
}

test('R-HUB-105: a position beyond the end of the log is a gap, since the log is an older copy', async () => {
  const { hub, point, had } = await restored();
  const { welcome, peer } = await helloPeer(hub.url, 'a', point);
  expect(welcome.payload.epoch).toBe(point.resume.epoch);
  expect(welcome.payload.resume).toMatchObject({
    state: 'gap',
    from: had,
    to: welcome.payload.seq,
    reason: expect.stringContaining('older copy'),
  });
  await say(await join1(hub, 'sender'), 30);
  expect(await peer.next('route')).toMatchObject({ payload: 30, seq: had - 1 });
});

test('R-HUB-105: what came to an older copy of the log since is not taken for what the client had at the same position', async () => {
  const { hub, point, had } = await restored();
  await say(await join1(hub, 'sender'), 30, 40, 50);
  const { welcome, peer } = await helloPeer(hub.url, 'a', point);
  expect(welcome.payload.resume).toMatchObject({
    state: 'gap',
    from: had,
    to: welcome.payload.seq,
    reason: expect.stringContaining('older copy'),
  });
  const heard = [await peer.next('route'), await peer.next('route'), await peer.next('route')];
  expect(heard.map(({ payload }) => payload)).toEqual([30, 40, 50]);
});

test('R-HUB-105: after trimming, who had all is told so, and who had less than it acknowledged is told of a gap', async () => {
  const { openStorage, storage } = watchedStorage();
  const hub = await testHub({ openStorage });
  const sender = await join1(hub, 'sender');
  await say(sender, 0);
  sender.send({ type: 'route', to: 'sender', payload: 'of another mailbox' });
  const quiet = await helloPeer(hub.url, 'quiet');
  const first = await helloPeer(hub.url, 'a');
  await say(sender, 1, 2, 3);
  const seqs: (number | undefined)[] = [];
  for (const number of [1, 2, 3]) seqs.push((await first.peer.next('route', ({ payload }) => payload === number)).seq);
  await first.peer.ping();
  for (const peer of [first.peer, quiet.peer]) await peer.close();
  await sender.ping();
  expect(await storage().trim({ before: Date.now() + 1000 })).toBeGreaterThan(0);
  const resume = async (name: string, welcome: PeerFrame, seq?: number) => {
    const back = await helloPeer(hub.url, name, pointOf(welcome, seq));
    await back.peer.close();
    return back.welcome.payload.resume;
  };
  // nothing was ever in it, whatever is gone of the log
  expect(await resume('quiet', quiet.welcome)).toEqual({ state: 'recovered' });
  expect(await resume('quiet', quiet.welcome, 0)).toEqual({ state: 'recovered' });
  expect(await resume('a', first.welcome, seqs[2])).toEqual({ state: 'recovered' });
  for (const seq of [0, seqs[0], seqs[1]]) {
    expect(await resume('a', first.welcome, seq)).toMatchObject({
      state: 'gap',
      reason: expect.stringContaining('does not reach back'),
    });
  }
});
