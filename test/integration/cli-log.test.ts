import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type CliResult, type RunningCli, runCli, startCli } from '../helpers/npc-crew.ts';
import { connectPeer } from '../helpers/peer.ts';

let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'npc-cli-'));
  env = { HOME: home };
  onTestFinished(() => rm(home, { recursive: true, force: true }));
});

async function startHub(port = 0): Promise<{ hub: RunningCli; url: string; state: string }> {
  const state = join(home, 'state');
  const hub = startCli(['hub', '--port', String(port), '--state', state], { env });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  const [url] = await hub.until(/ws:\/\/127\.0\.0\.1:\d+/);
  await hub.until(/npc-crew log --state/);
  return { hub, url, state };
}

async function sayOn(url: string, ...texts: string[]): Promise<void> {
  const ann = await connectPeer(url, 'ann');
  for (const payload of texts) ann.send({ type: 'route', to: 'ann', task_id: 'run.code', payload });
  await ann.ping();
  await ann.close();
}

const payloads = ({ stdout }: CliResult) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).payload);

/** A log of six messages, a minute between two, the last one now. */
async function sixMinutes(): Promise<string> {
  const path = join(home, 'run.jsonl');
  const lines = Array.from({ length: 6 }, (_, index) => ({
    type: index % 2 ? 'task.progress' : 'route',
    from: ['ann', 'bob', 'eve'][index % 3],
    to: 'boss',
    task_id: index < 3 ? 'run.code' : 'run.review',
    payload: index + 1,
    lsn: index + 1,
    ts: Date.now() - (5 - index) * 60_000,
  }));
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

test('R-CLI-19: the filters of a log take several values, a time and a number, and work together', async () => {
  const file = await sixMinutes();
  const args = [
    '--since',
    '250s',
    '--type',
    'route,task.progress',
    '--task',
    'code',
    '--task',
    'review',
    '--last',
    '3',
  ];
  expect(payloads(await runCli(['log', '--file', file, '--json', ...args], { env }))).toEqual([4, 5, 6]);
});

test('R-CLI-20: following a folder and a hub survives a hub that is killed and started again, and Ctrl-C ends it clean', async () => {
  const first = await startHub();
  await sayOn(first.url, 'one', 'two');
  const ways = [
    ['--state', first.state],
    ['--hub', first.url, '-n', '1'],
  ];
  const follows = ways.map((way) => startCli(['log', '--follow', '--json', ...way], { env }));
  await Promise.all(follows.map((follow) => follow.until(/"two"/)));
  await sayOn(first.url, 'three');
  await Promise.all(follows.map((follow) => follow.until(/"three"/)));
  first.hub.child.kill('SIGKILL');
  await first.hub.result;
  const second = await startHub(Number(new URL(first.url).port));
  await sayOn(second.url, 'four');
  await Promise.all(follows.map((follow) => follow.until(/"four"/)));
  for (const follow of follows) follow.child.kill('SIGINT');
  const [byFolder, byHub] = await Promise.all(follows.map((follow) => follow.result));
  expect(byFolder).toMatchObject({ exit: 0, stderr: '' });
  expect(byHub).toMatchObject({ exit: 0, stderr: 'npc-crew: the hub is back\n' });
  expect(payloads(byFolder as CliResult)).toEqual(['one', 'two', 'three', 'four']);
  expect(payloads(byHub as CliResult)).toEqual(['two', 'three', 'four']);
});

test('R-CLI-20: following ends when the hub does, and when its reader went away', async () => {
  const { hub, url } = await startHub();
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
  const file = await sixMinutes();
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

test('R-CLI-22: an export is masked by the values of the environment and by shape, and is read again as a log', async () => {
  const secrets = { MY_API_KEY: 'quite-a-secret-value', HTTPS_PROXY: 'http://me:pass-of-proxy@proxy.example' };
  const shaped = `gh${'p_'}${'aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zC4fL6'}`;
  const file = join(home, 'run.jsonl');
  const frames = [
    {
      type: 'route',
      from: 'a',
      to: 'b',
      task_id: '',
      payload: { text: `使用 quite-a-secret-value 两次 quite-a-secret-value` },
    },
    {
      type: 'route',
      from: 'a',
      to: 'b',
      task_id: '',
      payload: { [shaped]: Buffer.from('pass-of-proxy').toString('base64') },
    },
    { type: 'task.progress', from: 'a', to: 'b', task_id: '', payload: { note: 'not wanted' } },
  ];
  await writeFile(file, frames.map((frame, lsn) => `${JSON.stringify({ ...frame, lsn, ts: lsn })}\n`).join(''));
  const target = join(home, 'out', 'kept.jsonl.gz');
  const log = (...args: string[]) =>
    runCli(['log', '--file', file, '--type', 'route', ...args], { env: { ...env, ...secrets } });
  expect(await log('--export', target)).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/cannot write .*ENOENT/),
  });
  const kept = join(home, 'kept.jsonl.gz');
  expect(await log('--export', kept)).toMatchObject({
    exit: 0,
    stdout: '',
    stderr: expect.stringMatching(/^npc-crew: 2 messages, \d+ B in .*kept\.jsonl\.gz; 4 places masked\n$/),
  });
  const text = gunzipSync(await readFile(kept)).toString();
  for (const secret of ['quite-a-secret', shaped, 'cGFzcy1vZi1wcm94']) expect(text).not.toContain(secret);
  expect(text).toContain('使用 *** 两次 ***');
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  const out = await log('--export', '-', '--last', '1');
  expect(out.stderr).toBe('npc-crew: 1 message; 2 places masked\n');
  expect(payloads(out)).toEqual([{ '***': '***' }]);
  expect(payloads(await runCli(['log', '--file', kept, '--json'], { env }))).toHaveLength(2);
});

test('R-CLI-22: an export that fails leaves what was there before, and nothing beside it', async () => {
  const file = await sixMinutes();
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

test('R-CLI-23: an exported log is replayed on a hub of its own, with its times and tasks, until Ctrl-C', async () => {
  const { url } = await startHub();
  const ann = await connectPeer(url, 'ann');
  ann.send({ type: 'task.assign', to: 'role:coder', task_id: 'k.open', payload: { goal: '开着' } });
  ann.send({ type: 'route', to: 'ann', task_id: 'k.open', payload: 'note' });
  await ann.ping();
  await ann.close();
  const file = join(home, 'kept.jsonl.gz');
  await runCli(['log', '--hub', url, '--export', file], { env });
  const replay = startCli(['log', '--replay', file], { env });
  onTestFinished(() => void replay.child.kill('SIGKILL'));
  const [, shown = ''] = await replay.until(/(ws:.*)\nnpc-crew: the hub holds 2 messages, 1 task of/);
  const [before, after, tasks] = await Promise.all([
    runCli(['log', '--hub', url, '--json'], { env }),
    runCli(['log', '--hub', shown, '--json'], { env }),
    runCli(['tasks', '--hub', shown, '--json'], { env }),
  ]);
  expect(after.stdout).toBe(before.stdout);
  expect(tasks.stdout).toContain('"task_id":"k.open","owner":"ann","target":"role:coder","state":"pending"');
  replay.child.kill('SIGINT');
  expect(await replay.result).toMatchObject({ exit: 0 });
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
