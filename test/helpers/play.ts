import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { onTestFinished, vi } from 'vitest';
import { readLog } from '../../hub/index.ts';
import type { Envelope, RunEvent } from '../../protocol/index.ts';
import { type Build, type CnbServer, type CnbServerOptions, startCnbServer } from '../../testing/cnb-server.ts';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import type { ScriptSource } from '../../testing/script.ts';
import { tempFolder } from './temp-repository.ts';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const slug = 'team/web/shop';

// a whole run takes 5-15 s alone, and shares the machine with others
vi.setConfig({ testTimeout: 90_000 });

/** A small repository whose test is red until `price.mjs` doubles the amount. It needs nothing but node. */
export const shop: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'price.mjs': 'export const price = (amount) => amount;\n',
  'price.test.mjs':
    "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { price } from './price.mjs';\n\ntest('doubles', () => assert.equal(price(2), 4));\n",
};

export type Step = ScriptSource[string][number];

/** A flow file with a coder alone, for stories that need nobody else. */
export const coderAlone: Readonly<Record<string, string>> = {
  '.npc/flow.json': `${JSON.stringify([{ id: 'code', target_agent: 'coder' }])}\n`,
};

/** Replies that every story needs. `script` may replace any of them. */
export const plan: Step = submit('改 price.mjs', {
  artifacts: [{ kind: 'plan', title: 'plan', text: '1. price.mjs 乘以 2。检验：npm test' }],
});
export const approve: Step = submit('没有异议');
export const verified: Step = submit('npm test 通过');
/** The coder's honest work on {@link shop}: the change in one step, the result in the next. */
export const fix: Step[] = [bash(`${priceTimes(2)} && npm test`), submit('price() 现在乘以 2')];
export const honest = {
  architect: [plan],
  coder: fix,
  reviewer: [approve],
  verifier: [verified],
  judge: ['complete [E1, E2]'],
};

/** The shell command that makes `price.mjs` multiply by a factor; 2 is right. */
export function priceTimes(factor: number): string {
  return `printf 'export const price = (amount) => amount * ${factor};\\n' > price.mjs`;
}

/** A reply that runs a command. */
export function bash(command: string): Step {
  return { calls: [{ name: 'bash', arguments: { command } }] };
}

/** A reply that hands in a result. */
export function submit(summary: string, rest: object = {}): Step {
  const result = { status: 'success', summary, artifacts: [], issues: [], ...rest };
  return { calls: [{ name: 'submit-result', arguments: result }] };
}

/** A fake platform with a repository, a person, our role, and models that play a script. */
export interface Stage {
  readonly platform: CnbServer;
  /** Path of the platform's bare repository, for `git clone`. */
  readonly repository: string;
  readonly models: ModelServer;
  /** State folder of the first run that a mention starts. */
  readonly state: string;
  /** State folder of one build's run. */
  stateOf(build: Build): string;
  /** How the person writes our name. */
  readonly mention: string;
  /** Posts a mention in a new issue; the build it started. */
  ask(request?: string, options?: { readonly workMode?: boolean }): Build;
  /** Opens a pull request of these changes, and posts a mention in it; the build it started. */
  askInPull(request: string, pull: PullOptions): Promise<Build>;
  /** Environment of a run that no platform starts (`--goal`). */
  readonly env: Readonly<Record<string, string>>;
}

export interface StageOptions {
  readonly script: ScriptSource;
  readonly files?: Readonly<Record<string, string>>;
  readonly platform?: Partial<CnbServerOptions>;
  /** Variables added for the run. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The pull request in which somebody asks. */
export interface PullOptions {
  readonly files: Readonly<Record<string, string>>;
  /** Its branch; default `topic`. */
  readonly branch?: string;
  /** The fork that the branch lies in. */
  readonly fork?: string;
}

/** Sets everything up for one test, and takes it down after it. Every process runs from dist/. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const folder = await tempFolder();
  const state = join(folder, 'state');
  const models = await startModelServer({ script: options.script });
  const children = new Set<ChildProcess>();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    OPENAI_BASE_URL: models.url,
    OPENAI_API_KEY: 'none',
    NPC_MODEL: 'scripted',
    NPC_STATE_DIR: state,
    ...options.env,
  };
  const states = new Map<string, string>();
  /** On a platform each build has a machine of its own. */
  const stateOf = (sn: string): string => {
    const own = states.get(sn) ?? (states.size === 0 ? state : join(folder, `${states.size + 1}-state`));
    states.set(sn, own);
    return own;
  };
  const stage = (command: string) => (variables: Readonly<Record<string, string>>, cwd: string) => {
    const own = { ...variables, ...env, NPC_STATE_DIR: stateOf(variables.CNB_BUILD_ID ?? '') };
    const child = spawn(process.execPath, [main, command], { cwd, env: own, detached: true });
    children.add(child);
    return child;
  };
  const platform = await startCnbServer({
    startRun: stage('run'),
    failStages: [stage('finish')],
    endStages: [stage('finish')],
    ...options.platform,
  });
  onTestFinished(async () => {
    await platform.close();
    await models.close();
  });
  const { folder: repository } = await platform.createRepository({ slug, from: options.files ?? shop });
  platform.createUser({ username: 'xiaoming' });
  const mention = platform.defineNpc({ slug: 'team/npc-crew', name: 'Agent' });
  /** Posts the mention in a thread; the build it started. */
  const mentionIn = (number: string, request: string, workMode: boolean): Build => {
    platform.comment({ slug, number, author: 'xiaoming', body: `${mention} ${request}`, workMode });
    const build = platform.builds.at(-1);
    if (!build) throw new Error('the mention started no build');
    return build;
  };
  return {
    platform,
    repository,
    models,
    state,
    stateOf: ({ sn }) => stateOf(sn),
    mention,
    env,
    ask(request = '请让测试通过，然后提交 PR。', { workMode = true } = {}) {
      const issue = platform.createIssue({ slug, author: 'xiaoming', title: '价格不对', body: '价格应该乘以 2。' });
      return mentionIn(issue.number, request, workMode);
    },
    async askInPull(request, { files, branch = 'topic', fork }) {
      if (fork !== undefined) await platform.forkRepository({ slug: fork, of: slug });
      await platform.commit({ slug: fork ?? slug, branch, files });
      const from = { head: branch, ...(fork !== undefined && { headSlug: fork }) };
      const { number } = await platform.createPull({ slug, author: 'xiaoming', title: '价格', ...from });
      return mentionIn(number, request, true);
    },
  };
}

/** Branches of the platform's repository: the one that holds unfinished work, and the others that the run made. */
export async function branchesOf(stage: Stage): Promise<{ wip: string; others: readonly string[] }> {
  const { stdout } = await execa('git', ['for-each-ref', '--format=%(refname:short)', 'refs/heads/npc'], {
    cwd: stage.repository,
  });
  const names = stdout.split('\n').filter((name) => name !== '');
  const isWip = (name: string) => name.startsWith('npc/wip/');
  return { wip: names.find(isWip) ?? '(none)', others: names.filter((name) => !isWip(name)) };
}

/** A line of a stack trace, which no user should ever meet. */
export const stackTrace = /^\s+at .+:\d+:\d+\)?$/m;

/** What the user sees of a run, and what its log says. */
export interface Story {
  readonly exit: number | null | undefined;
  /** Comments by the agent, newest text. */
  readonly comments: readonly string[];
  /** The newest of them. */
  readonly comment: string;
  readonly frames: readonly Envelope[];
  /** What the run's verdict was. */
  readonly cause: string | null | undefined;
  /** The run's own events of one type, in order. */
  events<T extends RunEvent['type']>(type: T): Extract<RunEvent, { type: T }>[];
}

/** Waits for a build's end and gathers its story. */
export async function storyOf(stage: Stage, build: Build): Promise<Story> {
  await build.done;
  const { thread } = build.occasion;
  const comments = stage.platform
    .thread(slug, thread.number)
    .comments.filter(({ author }) => author.npc !== undefined)
    .map(({ body }) => body);
  const frames: Envelope[] = [];
  const log = join(stage.stateOf(build), 'log.db');
  if (existsSync(log)) for await (const frame of readLog(log)) frames.push(frame);
  const events: Story['events'] = (type) =>
    frames.flatMap((frame) => {
      const event = frame.type === 'task.event' ? (frame.payload as { event: RunEvent }).event : undefined;
      return event?.type === type ? [event as never] : [];
    });
  const comment = comments.at(-1) ?? '';
  const cause = events('verdict.reached').at(-1)?.cause;
  return { exit: build.exitCode, cause, comment, comments, frames, events };
}
