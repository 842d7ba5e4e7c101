import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import {
  type Build,
  type CnbServer,
  type FakeComment,
  type StartRun,
  startCnbServer,
} from '../../testing/cnb-server.ts';
import type { ScriptSource } from '../../testing/script.ts';
import { mainFile } from './npc-crew.ts';
import { playDemo } from './shop.ts';

const demo = fileURLToPath(new URL('../../cli/demo', import.meta.url));
const slug = 'team/web/shop';
/** A coder's step that takes longer than any test. */
export const slow = { calls: [{ name: 'bash', arguments: { command: 'sleep 300' } }] };

/** A platform on which a mention has started a run; `finish` comes after it as in the template. */
export async function mention(
  changes: ScriptSource,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ home: string; platform: CnbServer; build: Build; ours: () => FakeComment[] }> {
  const home = variables.HOME ?? (await mkdtemp(join(tmpdir(), 'npc-finish-')));
  const { env: models } = await playDemo(changes);
  const stage =
    (command: string): StartRun =>
    (env, cwd) =>
      spawn(process.execPath, [mainFile, command], {
        cwd,
        detached: true,
        env: { PATH: process.env.PATH, HOME: home, ...models, ...env, ...variables },
      });
  const platform = await startCnbServer({
    startRun: stage('run'),
    failStages: [stage('finish')],
    endStages: [stage('finish')],
  });
  onTestFinished(() => platform.close());
  await platform.createRepository({ slug, from: join(demo, 'assets/shop') });
  platform.createUser({ username: 'alice' });
  const npc = platform.defineNpc({ slug: 'team/npc-crew', name: 'Agent' });
  const { number } = platform.createIssue({ slug, author: 'alice', title: '满减优惠算错了' });
  platform.comment({ slug, number, author: 'alice', body: `${npc} 请修复`, workMode: true });
  const build = platform.builds.at(-1);
  if (!build) throw new Error('no build');
  const ours = () => platform.issue(slug, number).comments.filter(({ author }) => author.npc !== undefined);
  return { home, platform, build, ours };
}

/** What the marker of a comment says of its run. */
export const stateOf = (comment: FakeComment | undefined) => /state=(\w+)/.exec(comment?.body ?? '')?.[1];
/** Waits of these tests. */
export const soon = { timeout: 30_000, interval: 50 };

/** Kills the supervisor and everything below it the hard way, as a machine that runs out of memory would. */
export async function killRun(build: Build): Promise<void> {
  await expect.poll(() => build.output, soon).toMatch(/working +attempt 1 +coder-1/);
  process.kill(-(build.child?.pid ?? 0), 'SIGKILL');
}
