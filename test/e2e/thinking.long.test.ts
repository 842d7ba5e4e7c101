import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

const script = { judge: [{ thinking: 'E1 shows it\nE2 too', text: 'complete [E1, E2]' }] };

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
  expect(run.stderr.includes('judge: E1 shows it\njudge: E2 too')).toBe(shown);
  const log = await startCli(['log', ...place, '--json'], options).result;
  expect(log.stdout).toContain('"line":"请求很明确');
  expect(log.stdout).toContain('"line":"E1 shows it"');
});
