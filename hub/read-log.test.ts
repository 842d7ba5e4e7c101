import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../base/sqlite.ts';
import { testFolder } from '../test/helpers/hub.ts';
import { openLog } from './index.ts';

test('R-CLI-6: a log of another version, and a file that is none, are told with the cure and left as they are', async () => {
  const path = join(await testFolder(), 'log.db');
  for (const [version, words] of [
    [1, /older version of npc-crew; .*npc-crew hub --port 0 --state/],
    [99, /newer version of npc-crew; use that one/],
  ] as const) {
    const database = await openDatabase(path);
    database.exec(`PRAGMA user_version = ${version}`);
    database.close();
    await expect(openLog(path)).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(words) });
  }
  await writeFile(path, 'x'.repeat(5000));
  await expect(openLog(path)).rejects.toMatchObject({ code: 'damaged_state', message: expect.stringContaining(path) });
});
