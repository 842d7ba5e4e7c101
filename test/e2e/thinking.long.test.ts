import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

const script = { architect: [{ thinking: 'where is the cart?\nin src/cart.mjs', calls: [] }] };

test.each([
  ['by default what a model thinks is shown', [], {}, true],
  ['--no-thinking does not show it', ['--no-thinking'], {}, false],
  ['NPC_THINKING=off does not show it', [], { NPC_THINKING: 'off' }, false],
])('R-LLM-68: %s; the log has it', async (_, flags, extra, shown) => {
  const home = await tempFolder();
  const repo = join(home, 'shop');
  await makeShop(repo);
  const { env } = await playDemo(script);
  const place = ['--state', join(home, 'state')];
  const options = { env: { HOME: home, ...env, ...extra } };
  const run = await startCli(['run', '--goal', 'add a discount', '--repo', repo, ...place, ...flags], options).result;
  expect(run.stderr.includes('architect: where is the cart?\narchitect: in src/cart.mjs')).toBe(shown);
  const log = await startCli(['log', ...place, '--json'], options).result;
  expect(log.stdout).toContain('"line":"where is the cart?"');
});
