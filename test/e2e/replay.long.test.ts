import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

vi.setConfig({ testTimeout: 90_000 });

const goal = '修复满减优惠的问题';

/** A run towards the goal in a repository of its own, and what it left there. */
async function runIn(env: Readonly<Record<string, string>>, ...flags: string[]) {
  const home = await tempFolder();
  const repo = join(home, 'shop');
  const git = await makeShop(repo);
  const args = ['run', '--goal', flags[2] ?? goal, '--repo', repo, '--json', ...flags.slice(0, 2)];
  const { exit, stdout, stderr } = await runCli(args, { env: { ...env, HOME: home } });
  const told = stdout === '' ? {} : (JSON.parse(stdout) as { verdict?: string; cause?: string; branch?: string });
  const tree = told.branch ? await git('rev-parse', `${told.branch}^{tree}`) : undefined;
  return { exit, stderr, told, tree };
}

test('R-E2E-60: a recorded run is replayed without any model: the same verdict and the same branch', async () => {
  const cassette = join(await tempFolder(), 'run.jsonl');
  const { env, models } = await playDemo();
  const recorded = await runIn(env, '--record', cassette);
  await models.close();
  expect({ exit: recorded.exit, verdict: recorded.told.verdict }, recorded.stderr).toEqual({
    exit: 0,
    verdict: 'green',
  });
  const again = await runIn(env, '--record', cassette);
  expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('holds something already') });

  const replayed = await runIn({}, '--replay', cassette);
  expect(replayed.stderr.split('\n')[0]).toMatch(/^重放：不询问模型，\d+ 条回复来自 .*run\.jsonl$/);
  expect(replayed.told.verdict, replayed.stderr).toBe('green');
  expect(replayed.tree).toBe(recorded.tree);
  expect(replayed.stderr).toContain('录制中有 0 条没有用到，0 次请求与录制不同');

  const changed = await runIn({}, '--replay', cassette, `${goal}，快一点`);
  expect(changed.stderr).toMatch(
    /第 1 次请求与录制不同：messages\[\d+\]\.content 第 \d+ 个字符起，录制为“.*”，现在为“.*快一点.*”/,
  );
  expect(changed.tree).toBe(recorded.tree);
});

test('R-E2E-60: a replay that is no recording, or stands beside --record, is refused before anything is done', async () => {
  const readme = join(await tempFolder(), 'absent.jsonl');
  const absent = await runIn({}, '--replay', readme);
  expect(absent).toMatchObject({ exit: 2, stderr: expect.stringContaining('there is no such file') });
  const both = await runCli(['run', '--goal', goal, '--record', 'a', '--replay', 'b']);
  expect(both).toMatchObject({ exit: 2, stderr: expect.stringContaining('--record and --replay do not go together') });
});
