import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { goalTrigger } from './goal-trigger.ts';

let repo: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b.invalid', ...args], { stdio: 'pipe' });

beforeEach(async () => {
  repo = await realpath(await mkdtemp(join(tmpdir(), 'npc-goal-')));
});

test('R-CLI-12: the base is the branch that is checked out, from any folder of the work tree', async () => {
  git('init', '-q', '-b', 'trunk');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  await mkdir(join(repo, 'deep'));
  expect(await goalTrigger(' 修复 ', join(repo, 'deep'), 'zh-CN')).toMatchObject({
    ...{ request: '修复', workspace: repo, baseBranch: 'trunk', workMode: true, isRetry: false },
  });
  git('checkout', '-q', '--detach');
  expect((await goalTrigger('x', repo, 'en')).baseBranch).toBe('HEAD');
});

test('R-CLI-12: a folder without git, and one without a commit, are wrong usage with a cure', async () => {
  await expect(goalTrigger('x', repo, 'en')).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('git init'),
  });
  git('init', '-q');
  await expect(goalTrigger('x', repo, 'en')).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('no commit yet'),
  });
});
