import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

test('R-CLI-12: with --in-process the agents live in the run, and a flow of one role is enough', {
  timeout: 60_000,
}, async () => {
  const { home, repo, scripted } = await goalStage();
  const flow = join(home, 'flow.json');
  await writeFile(flow, '[{"id":"code","target_agent":"coder"}]');
  const args = ['run', '--in-process', '--json', '--goal', goal, '--repo', repo, '--flow', flow];
  const { exit, stdout, stderr } = await runCli(args, { env: await scripted() });
  // the script's first patch: its one test passes, and nobody was there to object
  expect(JSON.parse(stdout), stderr).toMatchObject({ verdict: 'green', exit: 0 });
  expect(exit).toBe(0);
  const log = await runCli(['log', '--type', 'agent.spawned', '--json'], { env: { HOME: home } });
  expect(log.stdout).toContain('"start_time":""');
});
