import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { mainFile, type RunningCli, runCli, startCli } from '../helpers/npc-crew.ts';

let home: string;
let env: Record<string, string>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'npc-cli-'));
  env = { HOME: home };
});

/** A hub on a free port, ended with the test. */
async function startHub(...args: string[]): Promise<{ hub: RunningCli; url: string }> {
  const hub = startCli(['hub', '--port', '0', ...args], { env });
  onTestFinished(() => {
    hub.child.kill('SIGKILL');
  });
  const [url] = await hub.until(/ws:\/\/127\.0\.0\.1:\d+/);
  await hub.until(/npc-crew log --state/);
  return { hub, url };
}

async function connect(
  url: string,
  name: string,
): Promise<{ socket: WebSocket; next(): Promise<Record<string, unknown>> }> {
  const socket = new WebSocket(`${url}?agent=${name}`);
  onTestFinished(() => socket.terminate());
  const frames: Record<string, unknown>[] = [];
  let wake = () => {};
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    wake();
  });
  await once(socket, 'open');
  return {
    socket,
    async next() {
      while (frames.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return frames.shift() ?? {};
    },
  };
}

test('R-CLI-3: the help names every command and exit code, each command’s help has examples, and the version is the package’s', async () => {
  const { stdout } = await runCli(['--help'], { env });
  const commands = ['run', 'finish', 'hub', 'agent', 'log', 'tasks', 'agents', 'dead', 'watch', 'report', 'demo'];
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  expect(stdout).toContain('Exit codes');
  const helps = await Promise.all(commands.map((command) => runCli([command, '--help'], { env })));
  for (const help of helps) expect(help).toMatchObject({ exit: 0, stdout: expect.stringContaining('Examples:') });
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  expect((await runCli(['--version'], { env })).stdout).toBe(`${version}\n`);
});

test.each([
  [['nope'], /unknown command 'nope'/],
  [['log', '--nope'], /unknown option '--nope'\n[\s\S]*\(npc-crew log --help tells more\)/],
  [['dead', 'drop', '--nope'], /\(npc-crew dead drop --help tells more\)/],
  [['hub', '--host', '8.8.8.8'], /8\.8\.8\.8 is no address of this machine/],
  [['hub', '--port', '0', '--state', '/proc/foo'], /cannot use \/proc\/foo as state folder/],
  [['hub', '--port', 'x'], /^npc-crew: --port x: a port is 0-65535$/m],
  [['agent'], /missing required argument 'role'/],
  [['log'], /no run under .* --state DIR/],
  [['log', '--state', '/nowhere'], /\/nowhere holds no log\.db/],
  [['log', '--file', '/nowhere'], /^npc-crew: cannot read \/nowhere: there is no such file/],
  [['log', '--file', '/'], /\/: this is no message log/],
  [
    ['tasks', '--state', '/a', '--hub', 'ws://127.0.0.1:1'],
    /^npc-crew: --state and --hub do not go together; take one of them$/m,
  ],
  [['report', '--html'], /not there yet/],
  [['run'], /CNB_/],
  [['run', '--goal', 'x', '--repo', '/'], /no git work tree/],
])('R-CLI-3: %j is wrong usage: exit 2, told on stderr without a stack', async (args, words) => {
  const { exit, stdout, stderr } = await runCli(args, { env });
  expect(stderr).toMatch(words);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('R-CLI-10: a hub prints its address alone on stdout, answers a ping, and ends clean on a signal', async () => {
  const { hub, url } = await startHub();
  const { socket, next } = await connect(url, 'me');
  socket.send('{"type":"ping"}');
  expect(await next()).toMatchObject({ type: 'pong' });
  hub.child.kill('SIGTERM');
  expect(await hub.result).toMatchObject({
    ...{ exit: 0, stdout: `${url}\n` },
    stderr: expect.stringMatching(/\nnpc-crew: closing…; the log is in \/.*\n$/),
  });
});

test('R-CLI-10: a port in use is wrong usage, and the line says how to mend it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { exit, stderr } = await runCli(['hub', '--port', String(port), '--auth', 'required'], { env });
  expect(exit).toBe(2);
  expect(await readdir(home)).toEqual([]);
  expect(stderr).toMatch(new RegExp(`^npc-crew: port ${port} .*--port 0`));
});

test('R-CLI-6, R-CLI-7: what was said on a hub is read from its folder, from the hub itself, and as the newest run', async () => {
  const { url } = await startHub('--state', join(home, '.local', 'state', 'npc-crew', 'mine'));
  const [ann, bob] = [await connect(url, 'ann'), await connect(url, 'bob')];
  ann.socket.send(JSON.stringify({ type: 'route', to: 'bob', task_id: 't1', payload: { text: '你好' } }));
  ann.socket.send(JSON.stringify({ type: 'register_task', task_id: 't2' }));
  expect(await bob.next()).toMatchObject({ type: 'route', from: 'ann' });
  await expect.poll(async () => (await runCli(['tasks', '--hub', url, '--json'], { env })).stdout).toContain('"t2"');

  const json = (result: { stdout: string }) =>
    result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const byHub = json(await runCli(['log', '--hub', url, '--json'], { env }));
  const newest = json(await runCli(['log', '--json'], { env }));
  expect(newest).toEqual(byHub);
  expect(newest.map((frame) => frame.type)).toEqual(['hub.started', 'route', 'register_task']);
  expect((await runCli(['log'], { env })).stdout).toMatch(/ann → bob {2}route {2}t1 {2}你好/);
  expect((await runCli(['log', '--type', 'register_task'], { env })).stdout.trim().split('\n')).toHaveLength(1);
  expect((await runCli(['log', '--agent', 'bob', '--task', 't1'], { env })).stdout.trim().split('\n')).toHaveLength(1);
  expect(await runCli(['log', '--task', 't'], { env })).toMatchObject({
    exit: 0,
    stdout: '',
    stderr: '0 of 3 messages match\n',
  });
  expect((await runCli(['tasks'], { env })).stdout).toContain('t2');
  expect((await runCli(['agents', '--hub', url], { env })).stdout).toMatch(/^ann/m);
  expect((await runCli(['agents'], { env })).stdout).toMatch(/^ann/m);
});

test('R-CLI-6: a log file is read plain and gzipped, and its tasks are told from its frames', async () => {
  const frame = { from: 'coordinator', to: 'hub', task_id: 'k.code' };
  const lines = [
    { ...frame, type: 'task.assign', to: 'role:coder', payload: { goal: 'g' }, ts: 1000, lsn: 1 },
    { ...frame, type: 'task.accept', from: 'coder-1', attempt: 1, payload: null, ts: 2000, lsn: 2 },
    {
      ...frame,
      type: 'task.result',
      from: 'coder-1',
      attempt: 1,
      payload: { status: 'success', summary: '改好了' },
      ts: 9000,
      lsn: 3,
    },
  ].map((line) => JSON.stringify(line));
  const plain = join(home, 'run.jsonl');
  const zipped = join(home, 'run.jsonl.gz');
  await writeFile(plain, `${lines.join('\n')}\n`);
  await writeFile(zipped, gzipSync(`${lines.join('\n')}\n`));
  for (const file of [plain, zipped]) {
    expect((await runCli(['log', '--file', file, '--json'], { env })).stdout.trim().split('\n')).toHaveLength(3);
    expect((await runCli(['tasks', '--file', file], { env })).stdout).toMatch(/k\.code +done +1 +coder-1 +8s +改好了/);
    expect((await runCli(['agents', '--file', file, '--json'], { env })).stdout).toContain('"tasks":["k.code"]');
  }
  await writeFile(plain, `${lines[0]}\n{"half": \n`);
  expect(await runCli(['log', '--file', plain, '--json'], { env })).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/run\.jsonl, line 2: this is no message log; .*JSON Lines.*gzipped or not/),
  });
  for (const text of ['# a heading\n', '{"name": "npc-crew"}\n']) {
    await writeFile(plain, text);
    const { exit, stderr } = await runCli(['log', '--file', plain], { env });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('line 1: this is no message log') });
  }
});

test('R-CLI-8: a reader that goes away is no fault', async () => {
  const file = join(home, 'long.jsonl');
  const line = JSON.stringify({ type: 'route', from: 'a', to: 'b', task_id: '', payload: 'x'.repeat(1000) });
  await writeFile(file, `${line}\n`.repeat(5000));
  const log = startCli(['log', '--file', file, '--json'], { env });
  await log.until(/route/);
  log.child.stdout?.destroy();
  expect(await log.result).toMatchObject({ exit: 0, stderr: '' });
});

test('R-CLI-3: a full stdout is told as that: exit 3', async () => {
  const file = join(home, 'run.jsonl');
  await writeFile(file, '{"type":"route","from":"a","to":"b","task_id":"","payload":1,"lsn":1,"ts":1}\n');
  const told = await promisify(execFile)(
    'sh',
    ['-c', '"$0" "$1" log --file "$2" > /dev/full', process.execPath, mainFile, file],
    {
      env: { ...env, PATH: process.env.PATH ?? '' },
    },
  ).catch((error) => error);
  expect(told).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^npc-crew: cannot write to stdout: ENOSPC.*\n$/),
  });
});

test('R-CLI-3: the launcher of a folder that is not built says how to build it: exit 2', async () => {
  await cp(fileURLToPath(new URL('../../bin/npc-crew', import.meta.url)), join(home, 'bin', 'npc-crew'));
  const started = promisify(execFile)(join(home, 'bin', 'npc-crew'), ['log']);
  await expect(started).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: `npc-crew: not built yet: run \`npm ci && npm run build\` in ${home}\n`,
  });
});

test('R-CLI-17: a finished build takes the place of the one before, and leaves nothing beside it', async () => {
  const swap = fileURLToPath(new URL('../../scripts/swap-build.mjs', import.meta.url));
  const build = async (text: string) => {
    await mkdir(join(home, 'dist.next'));
    await writeFile(join(home, 'dist.next', 'a.js'), text);
    await promisify(execFile)(process.execPath, [swap], { cwd: home });
  };
  await build('one');
  await build('two');
  expect(await readFile(join(home, 'dist', 'a.js'), 'utf8')).toBe('two');
  expect(await readdir(home)).toEqual(['dist']);
});

test('R-CLI-42: on an address that is not loopback a token is asked for, and the hint for wscat reads it from its file', async () => {
  const state = join(home, 'state');
  const hub = startCli(['hub', '--host', '0.0.0.0', '--port', '0', '--state', state], { env });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  const [hint] = await hub.until(/npx wscat .*/);
  expect(hint).toContain(`-H "Authorization: Bearer $(cat '${join(state, 'token')}')"`);
  hub.child.kill('SIGTERM');
  const { stdout, stderr } = await hub.result;
  expect(stdout + stderr).not.toContain((await readFile(join(state, 'token'), 'utf8')).trim());
});

test('R-CLI-42: a hub keeps its token over a restart; commands and agents take it from a file or a variable', async () => {
  const state = join(home, 'state');
  const start = () => startHub('--auth', 'required', '--state', state);
  const { hub, url } = await start();
  const file = join(state, 'token');
  const token = (await readFile(file, 'utf8')).trim();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const [refused, ...letIn] = await Promise.all([
    runCli(['log', '--hub', url], { env }),
    runCli(['log', '--hub', url, '--token-file', file], { env }),
    runCli(['tasks', '--hub', url], { env: { ...env, NPC_HUB_TOKEN: token } }),
    runCli(['agents', '--state', state], { env }),
  ]);
  expect(refused).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/asks for its token; name its file with --token-file/),
  });
  const wrong = { env: { ...env, NPC_HUB_TOKEN: 'a-token-of-another-hub' } };
  const [byTasks, byWatch, byAgent] = await Promise.all([
    runCli(['tasks', '--hub', url], wrong),
    runCli(['watch', '--hub', url], wrong),
    runCli(['agent', 'helper', '--hub', url, '--exec', 'true {task}'], wrong),
  ]);
  expect(byTasks).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/has another token than the one that was given; name its file with --token-file/),
  });
  for (const other of [byWatch, byAgent]) expect(other).toEqual({ ...byTasks, stdout: '' });
  expect(letIn.map(({ exit }) => exit)).toEqual([0, 0, 0]);
  const agent = startCli(['agent', 'helper', '--hub', url, '--exec', 'true {task}', '--token-file', file], { env });
  onTestFinished(() => void agent.child.kill('SIGKILL'));
  await agent.until(/is on ws/);
  hub.child.kill('SIGTERM');
  await hub.result;
  const again = await start();
  const { stdout } = await runCli(['agents', '--hub', again.url, '--token-file', file], { env });
  expect(stdout).toContain('nobody');
  expect((await readFile(file, 'utf8')).trim()).toBe(token);
  again.hub.child.kill('SIGTERM');
  await again.hub.result;
  await chmod(file, 0o644);
  const open = await runCli(['hub', '--port', '0', '--auth', 'required', '--state', state], { env });
  expect(open).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringMatching(/others can read .*chmod 600/) });
});

test.each([
  [['--auth', 'none', '--host', '0.0.0.0'], /can be reached by other machines and needs a token/],
  [['--auth', 'none', '--token-file', 'x'], /--token-file is of no use with --auth none/],
  [['--burst', '0'], /^npc-crew: --burst 0: it is 1 to 1000000$/m],
])('R-CLI-40: hub %j is wrong usage', async (args, words) => {
  const { exit, stdout, stderr } = await runCli(['hub', '--port', '0', ...args], { env });
  expect(stderr).toMatch(words);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
});
