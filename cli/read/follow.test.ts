import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { type HubOptions, type RunningHub, startHub } from '../../hub/index.ts';
import { connectHub } from '../../hub-client/index.ts';
import type { Envelope } from '../../protocol/index.ts';
import { join0, testFolder } from '../../test/helpers/hub.ts';
import { noteRun } from '../state-folder.ts';
import { followHub } from './follow-hub.ts';
import { hubSource } from './hub-source.ts';
import type { Source } from './source.ts';
import { stateSource } from './state-source.ts';

/** A hub that can be started again on the same port and folder. */
async function restartable(options: Partial<HubOptions> = {}) {
  const folder = await testFolder();
  const database = join(folder, 'log.db');
  const start = (port: number): Promise<RunningHub> =>
    startHub({ port, database, log: silentLog(), limits: { rate: 0 }, ...options });
  let hub = await start(0);
  onTestFinished(() => hub.close());
  return {
    folder,
    database,
    get hub() {
      return hub;
    },
    async restart(between: () => Promise<void> = async () => {}): Promise<void> {
      const { port } = hub;
      await hub.close();
      await between();
      hub = await start(port);
    },
  };
}

async function say(hub: RunningHub, ...texts: string[]): Promise<void> {
  const ann = await join0(hub, 'ann');
  const bob = await join0(hub, 'bob');
  for (const payload of texts) ann.send({ type: 'route', to: 'bob', payload });
  await ann.ping();
  await Promise.all([ann.close(), bob.close()]);
}

/** Gathers what is followed until it ends. */
function gather(source: Source, afterLsn: number) {
  const stop = new AbortController();
  const seen: unknown[] = [];
  const ended = (async () => {
    for await (const { payload } of source.follow(afterLsn, stop.signal)) seen.push(payload);
  })();
  return { seen, ended, stop };
}

const soon = { timeout: 10_000, interval: 20 };

test('R-CLI-20: following a hub begins after a position, goes on over a restart, and ends when it is told to', async () => {
  const place = await restartable();
  await say(place.hub, 'one', 'two');
  const source = await hubSource(place.hub.url, 20_000);
  const { seen, ended, stop } = gather(source, 1);
  await expect.poll(() => seen, soon).toEqual(['two']);
  await say(place.hub, 'three');
  await place.restart();
  await say(place.hub, 'four');
  await expect.poll(() => seen, soon).toEqual(['two', 'three', 'four']);
  stop.abort();
  await ended;
  await source.close();
});

test('R-CLI-20: a hub that comes back with another log is followed from its beginning', async () => {
  const place = await restartable();
  await say(place.hub, 'one', 'two', 'three');
  const source = await hubSource(place.hub.url, 20_000);
  const { seen, stop, ended } = gather(source, 3);
  await say(place.hub, 'four');
  await expect.poll(() => seen, soon).toEqual(['four']);
  await place.restart(() => rm(place.database));
  await say(place.hub, 'other');
  await expect.poll(() => seen, soon).toEqual(['four', 'other']);
  stop.abort();
  await ended;
  await source.close();
});

test('R-CLI-20: following ends in order when the hub said goodbye and stays away', async () => {
  const place = await restartable();
  const client = await connectHub({ url: place.hub.url, name: 'watcher', log: silentLog() });
  const coming = followHub(client, 0, new AbortController().signal, 100);
  const first = coming.next();
  await say(place.hub, 'one');
  expect((await first).value).toMatchObject({ payload: 'one' });
  await place.hub.close();
  expect(await coming.next()).toEqual({ done: true, value: undefined });
  await client.close();
});

test('R-CLI-20: what comes faster than it is taken is read from the log, nothing twice and nothing left out', async () => {
  const place = await restartable({ limits: { rate: 0, softBuffer: 64 * 1024 * 1024 } });
  const client = await connectHub({ url: place.hub.url, name: 'watcher', log: silentLog() });
  onTestFinished(() => client.close());
  const stop = new AbortController();
  const coming = followHub(client, 0, stop.signal);
  const first = coming.next();
  const ann = await join0(place.hub, 'ann');
  await join0(place.hub, 'bob');
  const count = 2500;
  for (let n = 1; n <= count; n += 1) ann.send({ type: 'route', to: 'bob', payload: n });
  await ann.ping();
  const seen = [((await first).value as Envelope).lsn];
  while (seen.length < count) seen.push(((await coming.next()).value as Envelope).lsn);
  expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  stop.abort();
  await coming.return(undefined);
});

test('R-CLI-20: following a folder reads the log while its hub writes, also another log that takes its place', async () => {
  const place = await restartable();
  await noteRun(place.folder, { runKey: 'k', hubUrl: place.hub.url, goal: '' });
  const source = await stateSource(place.folder, 60_000);
  const { seen, stop, ended } = gather(source, 0);
  await say(place.hub, 'one');
  await expect.poll(() => seen, soon).toEqual(['one']);
  await place.restart();
  await say(place.hub, 'two');
  await expect.poll(() => seen, soon).toEqual(['one', 'two']);
  await place.restart(() => rm(place.database));
  await say(place.hub, 'other');
  await expect.poll(() => seen, soon).toEqual(['one', 'two', 'other']);
  stop.abort();
  await ended;
  await source.close();
});

vi.setConfig({ testTimeout: 30_000 });
