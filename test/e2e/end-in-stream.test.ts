import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

test('R-LLM-24: SIGTERM in the middle of a stream ends it, the agents and the run within a second', async () => {
  const home = await tempFolder();
  const repo = join(home, 'shop');
  await makeShop(repo);
  const { models, env } = await playDemo({
    architect: [{ thinking: 'a thought of some length, one to a line\n'.repeat(2000), pace_ms: 10 }],
  });
  const run = startCli(['run', '--goal', 'add a discount', '--repo', repo], { env: { HOME: home, ...env } });
  await run.until(/architect: a thought/);
  const outcomes = () => models.requests.map(({ outcome }) => outcome).join();
  const began = performance.now();
  run.child.kill('SIGTERM');
  await expect.poll(outcomes, { interval: 20 }).toBe('aborted');
  expect(performance.now() - began).toBeLessThan(1000);
  const { exit, stderr } = await run.result;
  expect({ exit }, stderr).toEqual({ exit: 143 });
  // half a second where nothing else runs; here three processes may wait for the machine
  expect(performance.now() - began).toBeLessThan(3000);
});
