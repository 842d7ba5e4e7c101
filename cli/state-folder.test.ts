import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { startTimeOf } from './process-facts.ts';
import {
  logIn,
  makeStateFolder,
  mustBeFree,
  newestRun,
  noteRun,
  openStateFolder,
  readRunFile,
  stateRoot,
  workIn,
} from './state-folder.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'npc-state-'));
});

async function run(name: string): Promise<string> {
  const folder = await makeStateFolder(join(root, name));
  await noteRun(folder, { runKey: name, hubUrl: 'ws://127.0.0.1:1', goal: '\n first line\nsecond' });
  return folder;
}

test('R-CLI-7: the newest run is the one that started last; what is no run is passed by', async () => {
  await run('a');
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = await run('b');
  await new Promise((resolve) => setTimeout(resolve, 5));
  // taken up again: it keeps its first start
  await run('a');
  await makeStateFolder(join(root, 'empty'));
  await writeFile(join(root, 'file'), '');
  expect(await newestRun(root)).toBe(second);
});

test('R-CLI-7: without any run the line says what to name instead', async () => {
  await expect(newestRun(join(root, 'nowhere'))).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('--state'),
  });
});

test('R-CLI-12: run.json tells who works there, for the owner’s eyes only', async () => {
  const folder = await run('a');
  expect(await readRunFile(folder)).toMatchObject({
    pid: process.pid,
    start_time: await startTimeOf(process.pid),
    goal: 'first line',
  });
  expect((await stat(join(folder, 'run.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('R-CLI-12: a damaged run.json is set aside and does not stop a run', async () => {
  const folder = await run('a');
  await writeFile(join(folder, 'run.json'), '{"half');
  expect(await readRunFile(folder)).toBeUndefined();
  await run('a');
  expect(await readRunFile(folder)).toMatchObject({ run_key: 'a' });
  expect((await readdir(folder)).some((name) => name.startsWith('run.json.corrupt-'))).toBe(true);
});

test('R-CLI-12: state lies below XDG_STATE_HOME, the home folder, or the temporary folder where there is no home', async () => {
  expect(stateRoot({ XDG_STATE_HOME: '/x', HOME: root })).toBe('/x/npc-crew');
  expect(stateRoot({ HOME: root })).toBe(join(root, '.local/state/npc-crew'));
  expect(stateRoot({ HOME: '/nowhere' })).toMatch(new RegExp(`^${tmpdir()}/npc-crew-`));
});

test('R-CLI-3: a state folder that cannot be made is wrong usage', async () => {
  await writeFile(join(root, 'file'), '');
  await chmod(join(root, 'file'), 0o400);
  await expect(makeStateFolder(join(root, 'file', 'below'))).rejects.toMatchObject({ code: 'usage' });
});

test('R-CLI-6: a log that may not be read is told as that, not as one that is not there', async () => {
  await expect(logIn(root)).rejects.toMatchObject({ code: 'not_found' });
  await symlink('log.db', join(root, 'log.db'));
  await expect(logIn(root)).rejects.toMatchObject({
    ...{ code: 'usage' },
    message: expect.stringMatching(/cannot read .*log\.db: ELOOP/),
  });
});

test('R-CLI-3: a state folder in which another process works is wrong usage, until that process has ended', async () => {
  const folder = await run('a');
  expect(await workIn(folder)).toBeUndefined();
  const other = spawn('sleep', ['60']);
  const file = { ...(await readRunFile(folder)), pid: other.pid, start_time: await startTimeOf(other.pid ?? 0) };
  await writeFile(join(folder, 'run.json'), JSON.stringify(file));
  await expect(mustBeFree(folder)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('--state'),
  });
  other.kill('SIGKILL');
  await once(other, 'exit');
  await mustBeFree(folder);
});

test.each([['log.db'], ['run.json']])(
  'R-CLI-3: a state folder in which %s is a folder is wrong usage',
  async (name) => {
    await mkdir(join(root, name));
    await expect(makeStateFolder(root)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(new RegExp(`${root} .*${name} is no file.*--state`)),
    });
  },
);

test('R-CLI-3: where a thread waits for an answer, it is given from a temporary folder that is gone afterwards', async () => {
  await mkdir(join(root, 'log.db'));
  const state = await openStateFolder(root, {});
  expect(state).toMatchObject({ folder: expect.stringContaining(tmpdir()), problem: expect.stringContaining(root) });
  await state.close();
  await expect(stat(state.folder)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(openStateFolder(root, undefined)).rejects.toMatchObject({ code: 'usage' });
});
