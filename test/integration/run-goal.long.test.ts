import { expect, test } from 'vitest';
import { goal, goalStage } from '../helpers/goal-run.ts';
import { runCli } from '../helpers/npc-crew.ts';

test('R-CLI-12: work that could not be proved stays on a branch of its own, which the report names', {
  timeout: 60_000,
}, async () => {
  const { git, repo, scripted } = await goalStage();
  const env = await scripted({ judge: ['no idea', 'no idea'] });
  const { exit, stdout } = await runCli(['run', '--goal', goal, '--repo', repo], { env });
  expect({ exit }, stdout).toEqual({ exit: 3 });
  expect(stdout).toContain('`unproven`');
  const branch = await git('branch', '--list', 'npc/*', '--format=%(refname:short)');
  expect(branch).toMatch(/^npc\/wip\/goal-[0-9a-f]{8}$/);
  expect(stdout).toContain(branch);
  expect(await git('diff', '--name-only', `main...${branch}`)).toBe('src/cart.mjs\ntest/cart.test.mjs');
});
