import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { startHub } from '../../hub/index.ts';
import type { Envelope } from '../../protocol/index.ts';
import { join0, testFolder } from '../../test/helpers/hub.ts';
import { fileSource } from './file-source.ts';
import { fits, type LogFilter } from './filter.ts';
import { hubSource } from './hub-source.ts';
import { narrow } from './narrow.ts';
import { newestFrames } from './newest.ts';
import type { Source } from './source.ts';
import { stateSource } from './state-source.ts';
import { wantedFrames } from './wanted.ts';

/** Six frames, a second between two, the last one now; kept in a file. */
async function sixSeconds(now: number): Promise<Source> {
  const path = join(await testFolder(), 'run.jsonl');
  const lines = Array.from({ length: 6 }, (_, index) => ({
    type: index % 2 ? 'task.progress' : 'route',
    from: ['ann', 'bob', 'eve'][index % 3],
    to: 'boss',
    task_id: index < 3 ? 'run.code' : 'run.review',
    payload: index + 1,
    lsn: index + 1,
    ts: now - (5 - index) * 1000,
  }));
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return fileSource(path);
}

const payloads = (frames: readonly Envelope[]) => frames.map(({ payload }) => payload);

test.each<[LogFilter, number[]]>([
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ since: 2500 }, [4, 5, 6]],
  [{ agents: ['ann', 'eve'], types: ['route'] }, [1, 3]],
  [{ agents: ['ann', 'bob'], tasks: ['code', 'review'] }, [1, 2, 4, 5]],
  [{ agents: ['boss'], tasks: ['run.review'], types: ['route', 'task.progress'], since: 4000 }, [5, 6]],
])('R-CLI-19: a filter takes one of each of its lists: %j', async (filter, expected) => {
  const source = await sixSeconds(5000);
  const { frames, upto } = await newestFrames(source, 100, filter);
  expect({ seen: payloads(frames), upto }).toEqual({ seen: expected, upto: 6 });
  const two = await newestFrames(source, 2, filter);
  expect(payloads(two.frames)).toEqual(expected.slice(-2));
  expect((await newestFrames(source, 0, filter)).frames).toEqual([]);
});

test('R-CLI-19: the newest of a long log are found from its end, also where few of them fit', async () => {
  const folder = await testFolder();
  const hub = await startHub({ port: 0, database: join(folder, 'log.db'), log: silentLog(), limits: { rate: 0 } });
  const ann = await join0(hub, 'ann');
  for (let n = 1; n <= 2500; n += 1) ann.send({ type: 'route', to: 'ann', task_id: n % 500 ? 'a' : 'b', payload: n });
  await ann.ping();
  const source = await stateSource(folder);
  expect(payloads((await newestFrames(source, 2, {})).frames)).toEqual([2499, 2500]);
  expect(payloads((await newestFrames(source, 3, { tasks: ['b'] })).frames)).toEqual([1500, 2000, 2500]);
  expect((await newestFrames(source, 3, { tasks: ['c'] })).frames).toEqual([]);
  const all: Envelope[] = [];
  for await (const frame of source.frames()) all.push(frame);
  const since = all[2000]?.ts ?? 0;
  const expected = all.filter((frame) => fits(frame, { since }));
  expect((await newestFrames(source, 10_000, { since })).frames).toEqual(expected);
  expect(await narrow(source, { tasks: ['b'] })).toEqual([{}]);
  ann.send({ type: 'register_task', task_id: 'b.x', payload: 'sub' });
  await ann.ping();
  expect(await narrow(source, { tasks: ['b'], since: 1 })).toEqual([{ tree: 'b', since: 1 }]);
  const narrowed = await newestFrames(source, 2, { tasks: ['b'] });
  expect({ ...narrowed, frames: payloads(narrowed.frames) }).toEqual({ frames: [2500, 'sub'], upto: 2501 });
  await source.close();
  await hub.close();
});

test('R-CLI-19: types, types of events and names are looked for in the index of a folder and of a hub, in any mixture', async () => {
  const folder = await testFolder();
  const hub = await startHub({ port: 0, database: join(folder, 'log.db'), log: silentLog(), limits: { rate: 0 } });
  const [ann, bob] = [await join0(hub, 'ann'), await join0(hub, 'bob')];
  for (let n = 1; n <= 900; n += 1) {
    const [peer, event] = [n % 3 ? ann : bob, n % 200 ? 'noted' : 'route'];
    if (n % 150 === 0) peer.send({ type: 'register_task', task_id: `t${n}`, payload: n });
    else if (n % 2) peer.send({ type: 'route', to: 'ann', payload: n });
    else peer.send({ type: 'task.event', task_id: 'run', payload: { event: { type: n % 70 ? event : 'rare', n } } });
  }
  await Promise.all([ann.ping(), bob.ping()]);
  const all: Envelope[] = [];
  const sources = [await stateSource(folder), await hubSource(hub.url, 1000)];
  for await (const frame of (sources[0] as Source).frames()) all.push(frame);
  const filters: LogFilter[] = [
    { types: ['register_task'] },
    { types: ['rare'] },
    { types: ['rare', 'register_task'], agents: ['bob'] },
    { types: ['route'], agents: ['bob', 'nobody'] },
    { types: ['noted'], tasks: ['run'], agents: ['bob', 'ann'] },
    { agents: ['hub'] },
    { agents: ['x'.repeat(100)] },
    { types: Array.from({ length: 20 }, (_, n) => `no.such.${n}`) },
    { types: ['register_task'], since: all[450]?.ts ?? 0 },
  ];
  for (const source of sources) {
    for (const filter of filters) {
      const expected = all.filter((frame) => fits(frame, filter));
      for (const count of [3, 1000]) {
        expect((await newestFrames(source, count, filter)).frames).toEqual(expected.slice(-count));
      }
      const found: Envelope[] = [];
      for await (const frame of wantedFrames(source, filter, undefined)) found.push(frame);
      expect(found).toEqual(expected);
    }
    let looked = 0;
    const { frames } = await newestFrames(source, 4, { types: ['register_task'] }, () => {
      looked += 1;
    });
    expect([payloads(frames), looked]).toEqual([[450, 600, 750, 900], 4]);
    await source.close();
  }
  expect(fits(all.find(({ type }) => type === 'task.event') as Envelope, { types: ['noted'] })).toBe(true);
  await hub.close();
});
