import { expect, onTestFinished, test } from 'vitest';
import { startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { startCli } from '../helpers/npc-crew.ts';

test('R-CLI-26: watching ends some seconds after the hub said goodbye', async () => {
  const { home, env } = await testHome();
  const { hub, url, state } = await startHubProcess(home);
  const watches = [
    ['--hub', url],
    ['--state', state],
  ].map((place) => startCli(['watch', ...place], { env }));
  for (const { child } of watches) onTestFinished(() => void child.kill('SIGKILL'));
  await Promise.all(watches.map((watch) => watch.until(/\n/)));
  hub.child.kill('SIGTERM');
  const results = await Promise.all(watches.map((watch) => watch.result));
  expect(results.map(({ exit }) => exit)).toEqual([0, 0]);
});
