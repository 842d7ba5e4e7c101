import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../base/sqlite.ts';
import { testFolder } from '../test/helpers/hub.ts';
import { openLog } from './index.ts';

test('R-CLI-6: a log of a newer version, and a file that is none, are told with the cure and left as they are', async () => {
  const path = join(await testFolder(), 'log.db');
  const database = await openDatabase(path);
  database.exec('PRAGMA user_version = 99');
  database.close();
  const words = expect.stringMatching(/newer version of npc-crew; use that one/);
  await expect(openLog(path)).rejects.toMatchObject({ code: 'usage', message: words });
  await writeFile(path, 'x'.repeat(5000));
  await expect(openLog(path)).rejects.toMatchObject({ code: 'damaged_state', message: expect.stringContaining(path) });
});
