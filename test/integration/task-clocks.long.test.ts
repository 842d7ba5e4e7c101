import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { RunningHub } from '../../hub/index.ts';
import { defaultClocks } from '../../hub/options.ts';
import { assign } from '../helpers/crew.ts';
import { join1, testHub } from '../helpers/hub.ts';
import type { Peer, PeerFrame } from '../helpers/peer.ts';

/** A hub some of whose clocks run `scale` times as fast as they do by default. */
function scaledHub(scale: number, ...names: (keyof typeof defaultClocks)[]): Promise<RunningHub> {
  return testHub({ clocks: Object.fromEntries(names.map((name) => [name, Math.round(defaultClocks[name] / scale)])) });
}

async function worker(hub: RunningHub, name: string, mode: string, scale: number): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../fixtures/moody-worker.mjs', import.meta.url));
  const args = [program, hub.url, name, mode, String(scale)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(20_000) });
  return child;
}

/** When the hub said that an attempt had begun, ms. */
async function begun(owner: Peer, attempt: number): Promise<number> {
  const fits = ({ type, payload }: PeerFrame) =>
    type === 'task.status' && payload.sub_state === 'working' && payload.attempt === attempt;
  for (;;) {
    const found = owner.frames.find(fits) as (PeerFrame & { ts: number }) | undefined;
    if (found !== undefined) return found.ts;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('R-HUB-67: a worker process that streams for 12 min finishes in attempt 1', async () => {
  const scale = 90;
  const hub = await scaledHub(scale, 'silence', 'attempt', 'backoffBase');
  const owner = await join1(hub, 'owner');
  await worker(hub, 'coder-1', 'stream', scale);
  assign(owner, 't1');
  const since = await begun(owner, 1);
  await new Promise((resolve) => setTimeout(resolve, (11.5 * 60_000) / scale));
  const result = (await owner.next('task.result')) as PeerFrame & { ts: number };
  expect(result).toMatchObject({ attempt: 1, payload: { summary: 'stream after true' } });
  expect(result.ts - since).toBeGreaterThanOrEqual((12 * 60_000) / scale);
});

test('R-HUB-67: a worker process that is stopped is replaced within 75 s', async () => {
  const scale = 10;
  const hub = await scaledHub(scale, 'ping', 'pong', 'grace', 'backoffBase');
  const owner = await join1(hub, 'owner');
  const first = await worker(hub, 'coder-1', 'mute', scale);
  assign(owner, 't1');
  await begun(owner, 1);
  await worker(hub, 'coder-2', 'quick', scale);
  const stopped = Date.now();
  first.kill('SIGSTOP');
  expect((await begun(owner, 2)) - stopped).toBeLessThan(75_000 / scale);
  expect(await owner.next('task.result')).toMatchObject({ from: 'coder-2', attempt: 2 });
});

test('R-HUB-67: a worker process that is alive and mute is replaced after 5 min', async () => {
  const scale = 90;
  const hub = await scaledHub(scale, 'silence', 'attempt', 'backoffBase');
  const owner = await join1(hub, 'owner');
  await worker(hub, 'coder-1', 'mute', scale);
  assign(owner, 't1');
  const since = await begun(owner, 1);
  await worker(hub, 'coder-2', 'quick', scale);
  const replaced = (await begun(owner, 2)) - since;
  expect(replaced).toBeGreaterThanOrEqual((5 * 60_000) / scale);
  expect(replaced).toBeLessThan((6 * 60_000) / scale);
  expect(await owner.next('task.result')).toMatchObject({ from: 'coder-2', attempt: 2 });
});
