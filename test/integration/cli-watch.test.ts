import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startCli } from '../helpers/npc-crew.ts';
import { connectPeer } from '../helpers/peer.ts';

test('R-CLI-26: any number of people watch a hub, from its address and its folder, until it ends', async () => {
  const home = await mkdtemp(join(tmpdir(), 'npc-cli-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const env = { HOME: home };
  const state = join(home, 'state');
  const hub = startCli(['hub', '--port', '0', '--state', state], { env });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  const [url] = await hub.until(/ws:\/\/127\.0\.0\.1:\d+/);
  await hub.until(/npc-crew log --state/);
  const watches = [
    ['--hub', url],
    ['--hub', url],
    ['--state', state],
  ].map((place) => startCli(['watch', ...place], { env }));
  for (const { child } of watches) onTestFinished(() => void child.kill('SIGKILL'));
  const ann = await connectPeer(url, 'ann', { query: '&role=boss' });
  ann.send({ type: 'task.assign', to: 'role:coder', task_id: 'k.code', payload: { goal: '修复' } });
  await Promise.all(watches.map((watch) => watch.until(/ann is here \(boss\)\n/)));
  await Promise.all(watches.map((watch) => watch.until(/k\.code {2}queued/)));
  await ann.close();
  await Promise.all(watches.map((watch) => watch.until(/ann is gone/)));
  watches[2]?.child.kill('SIGINT');
  hub.child.kill('SIGTERM');
  const results = await Promise.all(watches.map((watch) => watch.result));
  for (const { exit, stdout } of results) {
    expect(exit).toBe(0);
    expect(stdout).not.toContain('cli-');
  }
});
