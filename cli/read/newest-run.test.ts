import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '../../hub/sqlite-storage.ts';
import { testFolder } from '../../test/helpers/hub.ts';
import { message, messages } from '../../test/helpers/storage-conformance/rows.ts';
import { foldRun } from './fold-run.ts';
import { newestRun } from './newest-run.ts';
import { stateSource } from './state-source.ts';

const event = (taskId: string, payload: object) =>
  message({ type: 'task.event', to: 'hub', taskId, payload: { event: payload } });

const started = (key: string) =>
  event(key, {
    type: 'run.started',
    run_key: key,
    pid: 1,
    version: '0',
    resumed: false,
    trigger: { request: `do ${key}` },
  });

test('R-CLI-55: the report of a run among a million messages reads what belongs to the run alone', async () => {
  const folder = await testFolder();
  const { storage } = await openStorage(join(folder, 'log.db'));
  await storage.commit([started('one'), event('one', { type: 'run.finished', exit: 1 })], 1);
  await storage.commit(
    messages(900, (index) => ({ taskId: `other.${index % 7}`, type: 'task.event' })),
    2,
  );
  await storage.commit([started('two'), event('two.t1', { type: 'step.entered', step: 'work' }), started('two')], 3);
  await storage.commit(
    messages(900, (index) => ({ taskId: `other.${index % 7}`, type: 'task.event' })),
    4,
  );
  await storage.commit([event('two', { type: 'run.finished', exit: 0 })], 5);
  await storage.close();
  const source = await stateSource(folder);
  const story = await newestRun(source);
  expect(story).toEqual(await foldRun(source.frames()));
  expect(story).toMatchObject({ runKey: 'two', request: 'do two', starts: 2, exit: 0, started: 3, ended: 5 });
  await source.close();
});
