import { mkdir } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { startHubProcess, testHome } from '../../test/helpers/cli-stage.ts';
import { testFolder } from '../../test/helpers/hub.ts';
import { seededRandom } from '../../test/helpers/random.ts';
import { messages, task } from '../../test/helpers/storage-conformance/rows.ts';
import { openStorage } from '../sqlite-storage.ts';

const times = Array.from({ length: 20 }, (_, number) => number);
const random = seededRandom(20);

async function filled(path: string): Promise<void> {
  const { storage } = await openStorage(path);
  for (let turn = 0; turn < 500; turn += 1) {
    const tasks = Array.from({ length: 10 }, (_, n) => task(`run.t${turn}.${n}`, { created: turn, subState: 'done' }));
    const rows = messages(100, (n) => ({ taskId: `run.t${turn}.${n % 10}`, payload: 'x'.repeat(500) }));
    await storage.commit([...rows, ...tasks.map((one) => ({ kind: 'task', task: one, expect: null }) as const)], turn);
  }
  await storage.close();
}

test('R-HUB-45: a hub that gets SIGTERM while its thread reads for an export and for a search ends in order, 20 times', async () => {
  const { home } = await testHome();
  await mkdir(join(home, 'state'));
  await filled(join(home, 'state', 'log.db'));
  for (const _ of times) {
    const { hub, url } = await startHubProcess(home);
    const http = url.replace('ws', 'http');
    const asked = [
      '/v1/log',
      '/v1/log?type=nothing.of.it',
      '/v1/log?last=1&type=nothing.of.it',
      '/v1/tasks?limit=10000',
    ];
    const requests = asked.map((path) => get(`${http}${path}`, (response) => response.resume()));
    // each is cut off by the hub's end, which is what this is about
    for (const one of requests) one.on('error', () => {});
    await pause(random.between(0, 150));
    hub.child.kill('SIGTERM');
    const { exit, signal, stderr } = await hub.result;
    expect({ exit, signal }).toEqual({ exit: 0, signal: null });
    expect(stderr.split('\n').at(-2)).toMatch(/^npc-crew: closing…/);
  }
});

test('R-HUB-45: a process that ends at once while the thread reads has its own exit code, 20 times', async () => {
  const path = join(await testFolder(), 'log.db');
  await filled(path);
  for (const _ of times) {
    const args = ['--import', 'tsx', 'test/helpers/exit-process.ts', path, String(random.between(0, 100))];
    const { exitCode, stderr } = await execa('node', args, { reject: false });
    expect({ exitCode, stderr }).toEqual({ exitCode: 7, stderr: '' });
  }
});
