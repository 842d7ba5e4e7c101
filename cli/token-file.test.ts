import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { findHubToken, tokenFileIn } from './hub-token.ts';
import { openTokenFile, readTokenFile } from './token-file.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npc-token-'));
  path = tokenFileIn(folder);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

test('R-CLI-41: a token file is made for its owner alone, and used again', async () => {
  const first = await openTokenFile(path);
  expect(first).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/), made: true });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe(`${first.token}\n`);
  expect(await openTokenFile(path)).toEqual({ token: first.token, made: false });
  expect(await readTokenFile(path)).toBe(first.token);
});

test.each([0o640, 0o604, 0o666, 0o620])('R-CLI-41: a token file of mode %o is refused, with the cure', async (mode) => {
  await openTokenFile(path);
  await chmod(path, mode);
  const refused = {
    code: 'usage',
    message: expect.stringMatching(new RegExp(`mode 0${mode.toString(8)}\\); chmod 600`)),
  };
  await expect(readTokenFile(path)).rejects.toMatchObject(refused);
  await expect(openTokenFile(path)).rejects.toMatchObject(refused);
});

test.each([
  ['', /is empty; remove it/],
  ['\n \n', /is empty/],
  ['short', /holds no token/],
  ['two words that are long enough', /holds no token/],
])('R-CLI-41: a token file that holds %j is refused, never written over', async (text, words) => {
  await writeFile(path, text, { mode: 0o600 });
  await expect(openTokenFile(path)).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(words) });
  expect(await readFile(path, 'utf8')).toBe(text);
});

test('R-CLI-41: a token is taken from the file that is named, else from the folder of the hub', async () => {
  expect(await findHubToken({ folder })).toBeUndefined();
  const { token } = await openTokenFile(path);
  expect(await findHubToken({ folder })).toBe(token);
  const other = await openTokenFile(join(folder, 'other'));
  expect(await findHubToken({ tokenFile: join(folder, 'other'), folder })).toBe(other.token);
  await expect(findHubToken({ tokenFile: join(folder, 'none') })).rejects.toMatchObject({ code: 'not_found' });
  await expect(findHubToken({ tokenFile: folder })).rejects.toMatchObject({ code: 'usage' });
});
