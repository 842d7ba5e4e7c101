import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findProcesses } from '../base/process-tree.ts';
import { toolBench } from '../test/helpers/tool-context.ts';
import bash from './bash.ts';
import { endTask } from './lib/end-task.ts';
import read from './read.ts';

/** An argument that no other process has, so that a test knows its own processes. */
const odd = (base: number) => `${base}.${process.pid}${Math.floor(Math.random() * 1e6)}`;
const alive = async (argument: string) => {
  const all = await findProcesses({ leader: 1 });
  return all.filter(({ command }) => command.includes(argument));
};
const ofTask = (value = '') => findProcesses({ variable: { name: 'NPC_TASK', value } });

test('R-TOOL-1: a call ends with its command although a child in a session of its own holds the pipes', async () => {
  const bench = await toolBench({ NPC_TASK: odd(1) });
  const start = performance.now();
  const outcome = await bench.use(bash, { command: 'setsid sleep 60 & echo done' });
  expect(performance.now() - start).toBeLessThan(3000);
  expect(outcome).toMatchObject({ ok: true, exit: 0 });
  expect(outcome.text).toMatch(
    /^done\n\[exit 0\]\n\[still running in the background, until the task ends: \d+ sleep 60\./,
  );
  expect(await endTask(bench.context)).toEqual([]);
  expect(await ofTask(bench.context.env.NPC_TASK)).toEqual([]);
});

test('R-TOOL-1: a holder that cleared its environment is named too', async () => {
  const bench = await toolBench();
  const time = odd(60);
  const { text } = await bench.use(bash, { command: `env -i setsid sleep ${time} & sleep 0.3; echo done` });
  expect(text).toContain(`sleep ${time}`);
  for (const { pid } of await alive(time)) process.kill(pid, 'SIGKILL');
});

test('R-TOOL-1: a process in the background with its output elsewhere is named, and its later output kept', async () => {
  const bench = await toolBench({ NPC_TASK: odd(2) });
  const { text } = await bench.use(bash, {
    command: 'sleep 30 >/dev/null 2>&1 & (while sleep 0.05; do echo tick; done) & echo up',
  });
  expect(text).toContain('sleep 30');
  const file = /now on is in (\S+),/.exec(text)?.[1] ?? '';
  await expect.poll(async () => (await bench.use(read, { path: file })).text).toContain('tick');
  await endTask(bench.context);
});

test('R-TOOL-1: a noisy writer in the background does not hold the call', async () => {
  const bench = await toolBench({ NPC_TASK: odd(3) });
  const start = performance.now();
  const { text } = await bench.use(bash, { command: 'yes noise & echo up' });
  // It would hold it for ever; the machine may be busy.
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(text).toContain('[exit 0]');
  await endTask(bench.context);
});

test('R-TOOL-2: a character that comes in two pieces stays whole, on both streams', async () => {
  const bench = await toolBench();
  const script = [
    'import sys, time',
    'for out in (sys.stdout.buffer, sys.stderr.buffer):',
    '  out.write(b"a\\xe2"); out.flush(); time.sleep(0.05); out.write(b"\\x80\\x94b\\n"); out.flush()',
    'sys.stdout.buffer.write(b"\\xe4\\xbd"); sys.stdout.flush()',
    'sys.stderr.buffer.write("好\\n".encode()); sys.stderr.flush(); time.sleep(0.05)',
    'sys.stdout.buffer.write(b"\\xa0"); sys.stdout.flush()',
  ].join('\n');
  await bench.put('split.py', script);
  const { text } = await bench.use(bash, { command: 'python3 split.py' });
  expect(text.split('\n')).toEqual(['a—b', 'a—b', '好', '你', '[exit 0]']);
});

test('R-TOOL-2: output in GBK is read as what it is', async () => {
  const bench = await toolBench();
  await bench.put('a.txt', Buffer.from('c4e3bac3cac0bde70a', 'hex'));
  expect((await bench.use(bash, { command: 'cat a.txt; echo 再见' })).text).toBe('你好世界\n再见\n[exit 0]');
});

test('R-TOOL-3: a command that asks gets the end of its input at once', async () => {
  const bench = await toolBench();
  const start = performance.now();
  expect((await bench.use(bash, { command: 'read -p "ok? " x; echo "got:$x"' })).text).toContain('got:\n');
  expect(await bench.use(bash, { command: 'cat' })).toMatchObject({ ok: true, text: '(no output)\n[exit 0]' });
  expect((await bench.use(bash, { command: 'read x </dev/tty' })).ok).toBe(false);
  expect(performance.now() - start).toBeLessThan(3000);
});

test('R-TOOL-3: git without credentials, with a pager or an editor does not wait for anybody', async () => {
  const bench = await toolBench({ GIT_CONFIG_NOSYSTEM: '1', GIT_ASKPASS: '/bin/cat' });
  const start = performance.now();
  const server = `python3 -c "
import http.server
class H(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(401); self.send_header('WWW-Authenticate', 'Basic realm=x'); self.end_headers()
s = http.server.HTTPServer(('127.0.0.1', 0), H); print(s.server_port, flush=True); s.handle_request(); s.handle_request()
" > port 2>/dev/null & while [ ! -s port ]; do sleep 0.02; done`;
  const asked = await bench.use(bash, {
    command: `${server}; git clone http://127.0.0.1:$(cat port)/x.git`,
    timeout_s: 20,
  });
  expect(asked.ok).toBe(false);
  expect(asked.text).toMatch(/terminal prompts disabled/);
  const committed = await bench.use(bash, {
    command:
      'git init -q . && git config user.email a@example.org && git config user.name a && git config core.pager less && ' +
      'git add . && git commit -qm one && git commit --amend && git log',
    timeout_s: 20,
  });
  expect(committed.text).toContain('[exit 0]');
  expect(performance.now() - start).toBeLessThan(15_000);
});

test('R-TOOL-4: at the limit the whole tree is gone: group, session leaver, and one that ignores SIGTERM', async () => {
  const bench = await toolBench();
  const time = odd(70);
  const outcome = await bench.use(bash, {
    command: `setsid sleep ${time} & sleep ${time} & (trap "" TERM; sleep ${time}; sleep ${time}); wait`,
    timeout_s: 0.3,
  });
  expect(outcome).toMatchObject({ ok: false, exit: null });
  expect(outcome.text).toContain('[ended after 0.3 s, with all its processes. It had printed nothing');
  expect(await alive(time)).toEqual([]);
});

test('R-TOOL-4: cancelling ends the tree and is not swallowed', async () => {
  const bench = await toolBench();
  const time = odd(80);
  const running = bench.use(bash, { command: `setsid sleep ${time} & sleep ${time}` });
  await expect.poll(async () => (await alive(time)).length).toBeGreaterThan(1);
  bench.cancel.abort(new Error('the task was cancelled'));
  await expect(running).rejects.toThrow('the task was cancelled');
  expect(await alive(time)).toEqual([]);
});

test('R-TOOL-5: the exit code is told in text and outcome, also when nothing was printed', async () => {
  const bench = await toolBench();
  expect(await bench.use(bash, { command: 'exit 3' })).toEqual({ ok: false, exit: 3, text: '(no output)\n[exit 3]' });
  expect((await bench.use(bash, { command: 'kill -SEGV $$' })).text).toContain('[ended by SIGSEGV]');
  expect((await bench.use(bash, { command: 'nonesuch' })).text).toMatch(/command not found\n\[exit 127]/);
});

test('R-TOOL-5: what a terminal would not show is left out', async () => {
  const bench = await toolBench();
  const { text } = await bench.use(bash, {
    command: "printf '\\033[31mred\\033[0m\\r\\n10%%\\r100%%\\n\\033]0;title\\007x\\n'",
  });
  expect(text).toBe('red\n100%\nx\n[exit 0]');
});

test('R-TOOL-6: long output keeps head and tail, and the rest can be read in a file outside the tree', async () => {
  const bench = await toolBench();
  const first = await bench.use(bash, { command: 'seq 1 20000' });
  expect(first.text.length).toBeLessThan(30_000);
  expect(first.text).toMatch(/^1\n2\n/);
  expect(first.text).toMatch(/\n20000\n\[output cut; the whole of it is in (\S+), for read]\n\[exit 0]$/);
  const file = /is in (\S+), for/.exec(first.text)?.[1] ?? '';
  expect(file.startsWith(bench.cwd)).toBe(false);
  expect((await bench.use(read, { path: file, offset: 10_000, limit: 1 })).text).toContain('10000\t10000');
  // The same command again reads the same.
  expect((await bench.use(bash, { command: 'seq 1 20000' })).text).toBe(first.text);
  await endTask(bench.context);
  expect(existsSync(file)).toBe(false);
});

test('R-TOOL-6: one line of 5 MB is cut', async () => {
  const bench = await toolBench();
  const { text } = await bench.use(bash, { command: 'head -c 5000000 /dev/zero | tr "\\0" x' });
  expect(text.length).toBeLessThan(3000);
  expect(text).toMatch(/… 49981\d\d characters of this line left out/);
});

test('R-TOOL-7: the command sees the given environment and no other', async () => {
  process.env.NPC_TEST_SECRET = 'must not be seen';
  const bench = await toolBench({ GIVEN: 'yes' });
  const { text } = await bench.use(bash, { command: 'env' });
  delete process.env.NPC_TEST_SECRET;
  expect(text).toContain('GIVEN=yes');
  expect(text).not.toContain('must not be seen');
});

test('R-TOOL-7: a work tree that is gone is named', async () => {
  const bench = await toolBench();
  await bench.use(bash, { command: 'rmdir "$PWD"' });
  expect(existsSync(bench.cwd)).toBe(false);
  expect((await bench.use(bash, { command: 'true' })).text).toContain('is not there');
});

test('R-TOOL-8: output shows that the call is alive', async () => {
  const bench = await toolBench();
  await bench.use(bash, { command: 'echo a; sleep 0.1; echo b' });
  expect(bench.signs()).toBeGreaterThan(2);
});
