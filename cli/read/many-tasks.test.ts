import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '../../hub/sqlite-storage.ts';
import { testFolder, testHub } from '../../test/helpers/hub.ts';
import { task } from '../../test/helpers/storage-conformance/rows.ts';
import { hubSource } from './hub-source.ts';

test('R-CLI-44: of more tasks than one answer holds all are told, in order, each once', async () => {
  const database = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(database);
  // three of them made at the same time, so that pages end among such
  const records = Array.from({ length: 10_500 }, (_, n) =>
    task(`run.t${n}`, { created: Math.floor(n / 3), subState: n % 4000 === 0 ? 'failed' : 'done' }),
  );
  await storage.commit(
    records.map((record) => ({ kind: 'task', task: record, expect: null })),
    1,
  );
  await storage.close();
  const hub = await testHub({ database });
  const source = await hubSource(hub.url, 1000);
  const tasks = await source.tasks();
  expect(tasks).toHaveLength(10_500);
  expect(new Set(tasks.map(({ task_id }) => task_id)).size).toBe(10_500);
  expect(tasks.map(({ created }) => created)).toEqual(records.map(({ created }) => created));
  const http = hub.url.replace('ws', 'http');
  const ask = async (query: string) => (await (await fetch(`${http}/v1/tasks?${query}`)).json()) as never;
  const found: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: { tasks: { task_id: string }[]; next?: string } = await ask(`state=failed&limit=3000&after=${after}`);
    found.push(...page.tasks.map(({ task_id }) => task_id));
    after = page.next;
  }
  expect(found).toEqual(['run.t0', 'run.t4000', 'run.t8000']);
  expect(await ask('after=nobody')).toMatchObject({ error: { code: 'no_such_task' } });
});
