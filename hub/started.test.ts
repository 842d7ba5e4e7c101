import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { join1, testFolder } from '../test/helpers/hub.ts';
import { readLog, startHub } from './index.ts';

test('R-HUB-107: each start and orderly end of a hub is in its log, for whoever reads it and for nobody’s mailbox', async () => {
  const database = join(await testFolder(), 'log.db');
  const start = () => startHub({ port: 0, database, log: silentLog(), version: '1.2.3', durability: 'power' });
  const first = await start();
  const a = await join1(first, 'a');
  a.send({ type: 'watch', payload: { after_lsn: 0 } });
  expect((await a.next('event')).payload.frame).toMatchObject({ type: 'hub.started', from: 'hub', to: 'hub', lsn: 1 });
  await first.close();
  const second = await start();
  const address = second.url.replace('ws', 'http');
  const starts = await (await fetch(`${address}/v1/log?type=hub.started`)).text();
  expect(starts.trim().split('\n')).toHaveLength(2);
  expect(await (await fetch(`${address}/v1/dead`)).json()).toEqual({ dead: [] });
  await second.close();
  const rows = [];
  for await (const { type, payload } of readLog(database)) rows.push([type, payload]);
  const said = { version: '1.2.3', epoch: first.epoch, durability: 'power' };
  const life = ['hub.started', 'hub.stopped'].map((type) => [type, said]);
  expect(rows).toEqual([...life, ...life]);
});
