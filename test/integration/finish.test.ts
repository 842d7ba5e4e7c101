import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  type Build,
  type CnbServer,
  type FakeComment,
  type StartRun,
  startCnbServer,
} from '../../testing/cnb-server.ts';
import type { ScriptSource } from '../../testing/script.ts';
import { mainFile } from '../helpers/npc-crew.ts';
import { processesOf } from '../helpers/run-watch.ts';
import { playDemo } from '../helpers/shop.ts';

const demo = fileURLToPath(new URL('../../cli/demo', import.meta.url));
const slug = 'team/web/shop';
const slow = { calls: [{ name: 'bash', arguments: { command: 'sleep 300' } }] };

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'npc-finish-'));
});

/** A platform on which a mention has started a run; `finish` comes after it as in the template. */
async function mention(
  changes: ScriptSource,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ platform: CnbServer; build: Build; ours: () => FakeComment[] }> {
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
  return { platform, build, ours };
}

const stateOf = (comment: FakeComment | undefined) => /state=(\w+)/.exec(comment?.body ?? '')?.[1];
const soon = { timeout: 30_000, interval: 50 };

/** Kills the supervisor and everything below it the hard way, as a machine that runs out of memory would. */
async function killRun(build: Build): Promise<void> {
  await expect.poll(() => build.output, soon).toMatch(/working +attempt 1 +coder-1/);
  process.kill(-(build.child?.pid ?? 0), 'SIGKILL');
}

test('R-CLI-14: a run that died leaves a final comment all the same, one in all, with what happened', {
  timeout: 90_000,
}, async () => {
  const { build, ours } = await mention({ coder: [slow] });
  await killRun(build);
  await build.done;
  expect(ours().map(stateOf)).toEqual(['final']);
  expect(ours()[0]?.body).toContain('crashed');
  expect(build.output).toContain('the comment is complete now');
  expect(build.output).toContain('nothing to finish: the comment is final');
});

test('R-CLI-14: without the state folder the comment is completed from the thread alone, once its time is over', {
  timeout: 90_000,
}, async () => {
  const { platform, build, ours } = await mention({ coder: [slow] });
  const past = new Date(Date.now() - 1000).toISOString();
  platform.configure({
    failStages: [
      (env, cwd) =>
        spawn('sh', ['-c', `rm -rf "$HOME/.local" && exec "${process.execPath}" "${mainFile}" finish`], {
          cwd,
          env: { PATH: process.env.PATH, HOME: home, ...env },
        }),
    ],
  });
  await killRun(build);
  const [comment] = ours();
  if (comment) comment.body = comment.body.replace(/until=\S+/, `until=${past}`);
  await build.done;
  expect(ours().map(stateOf)).toEqual(['final']);
});

test('R-CLI-14: a cancelled build is told as interrupted', { timeout: 90_000 }, async () => {
  const { platform, build, ours } = await mention({ coder: [slow] });
  // only endStages are told that it was cancelled
  platform.configure({ failStages: [] });
  await expect.poll(() => build.output, soon).toMatch(/working +attempt 1 +coder-1/);
  platform.cancel(build);
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body).toContain('interrupted');
});

test('R-CLI-14: a run whose supervisor was killed ends in order by itself', {
  timeout: 90_000,
}, async () => {
  const { build, ours } = await mention({ coder: [slow] });
  await expect.poll(() => build.output, soon).toMatch(/working +attempt 1 +coder-1/);
  const [, state = ''] = /state in (\S+)/.exec(build.output) ?? [];
  process.kill(build.child?.pid ?? 0, 'SIGKILL');
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body).toContain('interrupted');
  expect(build.output).toContain('nothing to finish: the comment is final');
  await expect.poll(() => processesOf(state), soon).toEqual(new Map());
});

test('R-CLI-14: finish waits for a run that is still at work', { timeout: 90_000 }, async () => {
  const { platform, build, ours } = await mention({ coder: [slow] });
  platform.configure({
    failStages: [
      (env, cwd) => {
        const [, state = ''] = /state in (\S+)/.exec(build.output) ?? [];
        const other = spawn('sleep', ['60']);
        const { pid = 0 } = other;
        const startTime = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21];
        const run = JSON.parse(readFileSync(join(state, 'run.json'), 'utf8'));
        writeFileSync(join(state, 'run.json'), JSON.stringify({ ...run, pid, start_time: startTime }));
        const finish = spawn(process.execPath, [mainFile, 'finish'], {
          cwd,
          env: { PATH: process.env.PATH, HOME: home, ...env },
        });
        finish.stderr.on('data', (said) => {
          if (String(said).includes('waiting for its end')) other.kill();
        });
        return finish;
      },
    ],
  });
  await killRun(build);
  await build.done;
  expect(build.output).toContain('waiting for its end');
  expect(build.output).toContain('the comment is complete now');
  expect(ours().map(stateOf)).toEqual(['final']);
});

test('R-CLI-14: a run that was ended as it began is told as interrupted', { timeout: 90_000 }, async () => {
  const { build, ours } = await mention({});
  const children = async () => {
    const pid = build.child?.pid;
    return pid === undefined ? '' : readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  };
  await expect.poll(children, { ...soon, interval: 1 }).not.toBe('');
  build.child?.kill('SIGTERM');
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body, build.output).toContain('interrupted');
});

test('R-CLI-3: a state folder that cannot be used is told in the comment', { timeout: 90_000 }, async () => {
  await writeFile(join(home, 'file'), '');
  const { build, ours } = await mention({}, { NPC_STATE_DIR: join(home, 'file', 'below') });
  await build.done;
  expect(ours().map(stateOf), build.output).toEqual(['final']);
  expect(ours()[0]?.body).toContain('misconfigured');
  expect(ours()[0]?.body).toContain('--state DIR');
  expect(build.exitCode).toBe(3);
  expect(build.output).not.toContain('a fault of its own');
});
