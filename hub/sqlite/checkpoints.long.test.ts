import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../base/sqlite.ts';
import { testFolder } from '../../test/helpers/hub.ts';
import { message, messages } from '../../test/helpers/storage-conformance/rows.ts';
import { openStorage } from '../sqlite-storage.ts';

const MIB = 1024 * 1024;

test('R-HUB-46: under load that never stops the write-ahead log stays bounded, without a checkpoint on the thread of the hub', async () => {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  const payload = 'x'.repeat(64_000);
  let largest = 0;
  for (let turn = 0; turn < 250; turn += 1) {
    await storage.commit(
      messages(16, () => ({ payload })),
      turn,
    );
    largest = Math.max(largest, statSync(`${path}-wal`).size);
    if (turn % 10 === 0) await setImmediate();
  }
  expect(largest).toBeGreaterThan(16 * MIB);
  expect(largest).toBeLessThan(160 * MIB);
  expect(statSync(path).size).toBeGreaterThan(100 * MIB);
  await storage.close();
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
});

test('R-HUB-46: while another program holds an old state, commits go on; afterwards the write-ahead log begins anew', async () => {
  const path = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(path);
  await storage.commit([message()], 1);
  const other = await openDatabase(path, { readOnly: true });
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM batch').get();
  const payload = 'x'.repeat(64_000);
  const write = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) {
      await storage.commit(
        messages(16, () => ({ payload })),
        turn,
      );
      await setImmediate();
    }
  };
  const size = () => statSync(`${path}-wal`).size;
  await write(100);
  expect(size()).toBeGreaterThan(90 * MIB);
  other.exec('COMMIT');
  other.close();
  await write(100);
  await expect
    .poll(
      async () => {
        await write(5);
        return size();
      },
      { timeout: 20_000 },
    )
    .toBeLessThan(90 * MIB);
  expect((await storage.latest({}, 1))[0]?.lsn).toBe(await storage.lastLsn());
  await storage.close();
});
