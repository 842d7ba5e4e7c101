import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import type { ScriptSource } from '../../testing/script.ts';
import { runCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';

const run = promisify(execFile);
const goal = '修复满减优惠的问题';

let home: string;
let repo: string;
let git: (...args: string[]) => Promise<string>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'npc-run-'));
  repo = join(home, 'shop');
  git = await makeShop(repo);
});

async function scripted(changes?: ScriptSource): Promise<Record<string, string>> {
  return { HOME: home, ...(await playDemo(changes)).env };
}

/** Processes whose command line holds `text`. */
async function _processesWith(text: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'pid,stat,args']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(text) && !/^\s*\d+ Z/.test(line) && !line.includes('ps -eo'));
}

test('R-CLI-12: work that could not be proved stays on a branch of its own, which the report names', {
  timeout: 60_000,
}, async () => {
  const env = await scripted({ judge: ['no idea', 'no idea'] });
  const { exit, stdout } = await runCli(['run', '--goal', goal, '--repo', repo], { env });
  expect({ exit }, stdout).toEqual({ exit: 3 });
  expect(stdout).toContain('`unproven`');
  const branch = await git('branch', '--list', 'npc/*', '--format=%(refname:short)');
  expect(branch).toMatch(/^npc\/wip\/goal-[0-9a-f]{8}$/);
  expect(stdout).toContain(branch);
  expect(await git('diff', '--name-only', `main...${branch}`)).toBe('src/cart.mjs\ntest/cart.test.mjs');
});
