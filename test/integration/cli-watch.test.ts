import { expect, onTestFinished, test } from 'vitest';
import { startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { startCli } from '../helpers/npc-crew.ts';
import { connectPeer } from '../helpers/peer.ts';

test('R-CLI-26: any number of people watch a hub, from its address and its folder, until they have seen enough', async () => {
  const { home, env } = await testHome();
  const { url, state } = await startHubProcess(home);
  const places = [
    ['--hub', url],
    ['--hub', url],
    ['--state', state],
  ];
  const watches = places.map((place) => startCli(['watch', ...place], { env }));
  for (const { child } of watches) onTestFinished(() => void child.kill('SIGKILL'));
  const ann = await connectPeer(url, 'ann', { query: '&role=boss' });
  ann.send({ type: 'task.assign', to: 'role:coder', task_id: 'k.code', payload: { goal: '修复' } });
  await Promise.all(watches.map((watch) => watch.until(/ann is here \(boss\)\n/)));
  await Promise.all(watches.map((watch) => watch.until(/k\.code {2}queued/)));
  await ann.close();
  await Promise.all(watches.map((watch) => watch.until(/ann is gone/)));
  for (const { child } of watches) child.kill('SIGINT');
  for (const { exit, stdout } of await Promise.all(watches.map((watch) => watch.result))) {
    expect(exit).toBe(0);
    expect(stdout).not.toContain('cli-');
  }
});
