import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { sayOn, sixMinutes, startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';

let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  ({ home, env } = await testHome());
});

test('R-CLI-20: following ends when the hub does, and when its reader went away', async () => {
  const { hub, url } = await startHubProcess(home);
  await sayOn(url, 'one');
  const [gone, stays] = [
    startCli(['log', '-f', '--hub', url], { env }),
    startCli(['log', '-f', '--hub', url], { env }),
  ];
  await Promise.all([gone.until(/one/), stays.until(/one/)]);
  gone.child.stdout?.destroy();
  await sayOn(url, 'two', 'three');
  expect(await gone.result).toMatchObject({ exit: 0, stderr: '' });
  hub.child.kill('SIGTERM');
  expect(await stays.result).toMatchObject({ exit: 0, stderr: 'npc-crew: the hub said goodbye\n' });
});

test('R-CLI-18: a log file cut at its end is shown up to there, with one line about the rest, and exit 0', async () => {
  const file = await sixMinutes(home);
  const line = `${JSON.stringify({ type: 'route', from: 'a', to: 'b', task_id: '', payload: 'x', lsn: 1 })}\n`;
  await writeFile(file, `${line}${line}{"type":"mess`);
  expect(await runCli(['log', '--file', file], { env })).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^(.*a → b.*\n){2}$/),
    stderr: `npc-crew: ${file}, line 3: the file ends in the middle of a message; its last 13 bytes were left out\n`,
  });
  const zipped = `${file}.gz`;
  await writeFile(zipped, gzipSync(line.repeat(3)).subarray(0, -8));
  expect(await runCli(['log', '--file', zipped, '-n', '1'], { env })).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining('the packed file ends early; all up to line 3 was read'),
  });
});

test('R-CLI-22: an export that fails leaves what was there before, and nothing beside it', async () => {
  const file = await sixMinutes(home);
  const target = join(home, 'kept.jsonl');
  await writeFile(target, 'before');
  await writeFile(file, `${await readFile(file, 'utf8')}garbage\n`);
  expect(await runCli(['log', '--file', file, '--export', target], { env })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('line 7: this is no message log'),
  });
  expect(await readFile(target, 'utf8')).toBe('before');
  expect((await readdir(home)).sort()).toEqual(['kept.jsonl', 'run.jsonl']);
  expect(await runCli(['log', '--file', file, '--export', '/dev/null'], { env })).toMatchObject({ exit: 2 });
});

test('R-CLI-23: a replay with a speed shows each message when its time comes', async () => {
  const file = join(home, 'run.jsonl');
  const frame = { type: 'route', from: 'a', to: 'b', task_id: '' };
  const lines = [0, 5000, 60_000].map((ts, index) => JSON.stringify({ ...frame, payload: index, ts: 1_000_000 + ts }));
  await writeFile(file, `${lines.join('\n')}\n`);
  const state = join(home, 'replayed');
  const replay = startCli(['log', '--replay', file, '--speed', '50', '--state', state], { env });
  onTestFinished(() => void replay.child.kill('SIGKILL'));
  const [, url = ''] = await replay.until(/(ws:.*)\n/);
  const began = Date.now();
  const follow = startCli(['log', '--follow', '--hub', url, '--json'], { env });
  await follow.until(/"payload":2/);
  expect(Date.now() - began).toBeGreaterThan(500);
  expect(replay.child.exitCode).toBe(null);
  await replay.until(/that was all: 3 messages, 0 tasks/);
  for (const { child } of [follow, replay]) child.kill('SIGTERM');
  await Promise.all([follow.result, replay.result]);
  expect(await runCli(['log', '--replay', file, '--state', state], { env })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('holds a log already'),
  });
});
