import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { payloadsOf, sayOn, sixMinutes, startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { type CliResult, runCli, startCli } from '../helpers/npc-crew.ts';
import { connectPeer } from '../helpers/peer.ts';

let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  ({ home, env } = await testHome());
});

test('R-CLI-19: the filters of a log take several values, a time and a number, and work together', async () => {
  const file = await sixMinutes(home);
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
  expect(payloadsOf(await runCli(['log', '--file', file, '--json', ...args], { env }))).toEqual([4, 5, 6]);
});

test('R-CLI-20: following a folder and a hub survives a hub that is killed and started again, and Ctrl-C ends it clean', async () => {
  const first = await startHubProcess(home);
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
  const second = await startHubProcess(home, Number(new URL(first.url).port));
  await sayOn(second.url, 'four');
  await Promise.all(follows.map((follow) => follow.until(/"four"/)));
  for (const follow of follows) follow.child.kill('SIGINT');
  const [byFolder, byHub] = await Promise.all(follows.map((follow) => follow.result));
  expect(byFolder).toMatchObject({ exit: 0, stderr: '' });
  expect(byHub).toMatchObject({
    exit: 0,
    stderr: 'npc-crew: the hub is lost; trying to reach it again\nnpc-crew: the hub is back\n',
  });
  const start = expect.objectContaining({ durability: 'process', version: expect.any(String) });
  expect(payloadsOf(byFolder as CliResult)).toEqual([start, 'one', 'two', 'three', start, 'four']);
  expect(payloadsOf(byHub as CliResult)).toEqual(['two', 'three', start, 'four']);
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
    stderr: expect.stringMatching(/cannot write .*: there is no such file or folder$/m),
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
  expect(payloadsOf(out)).toEqual([{ '***': '***' }]);
  expect(payloadsOf(await runCli(['log', '--file', kept, '--json'], { env }))).toHaveLength(2);
});

test('R-CLI-22: the tokens of the hub itself are masked: of its folder, of the variable and of the file that is named', async () => {
  const { url, state } = await startHubProcess(home);
  const [inFolder, inVariable, inFile] = ['folder', 'variable', 'file'].map((place) => `token-of-the-${place}-1234`);
  await writeFile(join(state, 'token'), `${inFolder}\n`, { mode: 0o600 });
  await writeFile(join(home, 'other'), `${inFile}\n`, { mode: 0o600 });
  await sayOn(url, `a ${inFolder} b ${inVariable} c ${inFile}`);
  const variables = { ...env, NPC_HUB_TOKEN: inVariable as string };
  const log = (...args: string[]) => runCli(['log', '--export', '-', '--last', '1', ...args], { env: variables });
  const [byFolder, byHub] = await Promise.all([
    log('--state', state, '--token-file', join(home, 'other')),
    log('--hub', url, '--token-file', join(home, 'other')),
  ]);
  expect(payloadsOf(byFolder)).toEqual(['a *** b *** c ***']);
  expect(payloadsOf(byHub)).toEqual([`a ${inFolder} b *** c ***`]);
});

test('R-CLI-23: an exported log is replayed on a hub of its own, with its times and tasks, until Ctrl-C', async () => {
  const { url } = await startHubProcess(home);
  const ann = await connectPeer(url, 'ann');
  ann.send({ type: 'task.assign', to: 'role:coder', task_id: 'k.open', payload: { goal: '开着' } });
  ann.send({ type: 'route', to: 'ann', task_id: 'k.open', payload: 'note' });
  await ann.ping();
  await ann.close();
  const file = join(home, 'kept.jsonl.gz');
  await runCli(['log', '--hub', url, '--export', file], { env });
  const replay = startCli(['log', '--replay', file], { env });
  onTestFinished(() => void replay.child.kill('SIGKILL'));
  const [, shown = ''] = await replay.until(/(ws:.*)\nnpc-crew: the hub holds 4 messages, 1 task of/);
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

test('R-CLI-22: an export leaves a file that is there alone, unless it is forced', async () => {
  const file = await sixMinutes(home);
  const target = join(home, 'kept.jsonl');
  await writeFile(target, 'precious');
  const log = (...args: string[]) => runCli(['log', '--file', file, '--export', target, ...args], { env });
  expect(await log()).toMatchObject({ exit: 2, stderr: expect.stringMatching(/is there already; .* add --force/) });
  expect(await readFile(target, 'utf8')).toBe('precious');
  expect((await log('--force')).exit).toBe(0);
  expect(await readFile(target, 'utf8')).toMatch(/^\{.*\}\n/);
});
