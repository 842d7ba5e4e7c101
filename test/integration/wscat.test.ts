import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { type RunningHub, startHub } from '../../hub/index.ts';
import type { Envelope } from '../../protocol/index.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** wscat as a person uses it, its window being two pipes. */
interface Terminal {
  type(line: string): void;
  /** The first frame of this type that it printed and no earlier call returned. */
  prints(type: string): Promise<Envelope>;
  /** Ctrl-D; resolves with the exit code. */
  leave(): Promise<number | null>;
}

const wscat = fileURLToPath(new URL('../../node_modules/.bin/wscat', import.meta.url));

function open(url: string): Terminal {
  const child = spawn(wscat, ['-c', url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const frames: Envelope[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const text = line.replace(/^[><\s]*/, ''); // the prompt
    if (text.startsWith('{')) frames.push(JSON.parse(text));
  });
  const leave = async (): Promise<number | null> => {
    child.stdin.end();
    return (await exit)[0];
  };
  cleanups.push(leave);
  return {
    type: (line) => child.stdin.write(`${line}\n`),
    async prints(type) {
      const found = () => frames.findIndex((frame) => frame.type === type);
      await expect.poll(found, { timeout: 10_000, interval: 10, message: `no ${type} was printed` }).not.toBe(-1);
      return frames.splice(found(), 1)[0] as Envelope;
    },
    leave,
  };
}

async function hub(): Promise<RunningHub> {
  const running = await startHub({ port: 0, database: ':memory:', log: silentLog() });
  cleanups.push(() => running.close());
  return running;
}

/** Opens one and waits until the hub knows it: what is typed before the connection stands is lost. */
async function openAs(url: string, name: string): Promise<Terminal> {
  const terminal = open(`${url}?agent=${name}`);
  const pings = setInterval(() => terminal.type('{"type":"ping"}'), 100);
  await terminal.prints('pong').finally(() => clearInterval(pings));
  return terminal;
}

test('R-CLIENT-60: with wscat a person pings, sees who is there, and sends what another wscat prints', async () => {
  const { url } = await hub();
  const [me, you] = await Promise.all([openAs(url, 'me'), openAs(url, 'you')]);
  me.type('{"type":"who"}');
  const { payload } = await me.prints('who');
  expect((payload as { agents: { name: string }[] }).agents.map(({ name }) => name).sort()).toEqual(['me', 'you']);
  me.type('{"type":"route","to":"you","payload":{"text":"你好"}}');
  expect(await you.prints('route')).toMatchObject({ from: 'me', to: 'you', task_id: '', payload: { text: '你好' } });
  expect(await me.leave()).toBe(0);
});

test('R-CLIENT-60: two wscats do one task by hand: registered, given, answered', async () => {
  const { url } = await hub();
  const [boss, worker] = await Promise.all([openAs(url, 'boss'), openAs(url, 'worker')]);
  boss.type('{"type":"register_task","to":"hub","task_id":"t1","payload":{}}');
  boss.type('{"type":"route","to":"worker","task_id":"t1","payload":{"goal":"add 1 and 2"}}');
  expect(await worker.prints('route')).toMatchObject({ from: 'boss', task_id: 't1', payload: { goal: 'add 1 and 2' } });
  boss.type('{"type":"tasks"}');
  expect((await boss.prints('tasks')).payload).toMatchObject({ tasks: [{ task_id: 't1', state: 'running' }] });
  worker.type('{"type":"route","to":"boss","task_id":"t1","payload":{"status":"success","summary":"3"}}');
  expect(await boss.prints('route')).toMatchObject({ from: 'worker', payload: { status: 'success', summary: '3' } });
  boss.type('{"type":"tasks"}');
  expect((await boss.prints('tasks')).payload).toMatchObject({ tasks: [{ state: 'done', summary: '3' }] });
});

test('R-CLIENT-60: what is mistyped is answered with an error that says what is wrong', async () => {
  const { url } = await hub();
  const me = await openAs(url, 'me');
  me.type('hello?');
  expect((await me.prints('error')).payload).toMatchObject({ code: 'bad_json' });
  me.type('{"type":"telepathy"}');
  expect((await me.prints('error')).payload).toMatchObject({ code: 'unknown_type' });
  me.type('{"type":"route","to":"nobody","payload":1}');
  expect((await me.prints('error')).payload).toMatchObject({ code: 'no_such_agent' });
  me.type('{"type":"ping","payload":"still here"}');
  await expect.poll(async () => (await me.prints('pong')).payload).toBe('still here');
});
