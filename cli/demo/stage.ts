import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Environment } from '../../config/index.ts';
import {
  type Build,
  type CnbServer,
  type FakeIssue,
  type FakeRepository,
  type StartRun,
  startCnbServer,
} from '../../testing/cnb-server.ts';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { readScript } from '../../testing/script.ts';

const main = fileURLToPath(new URL('../main.js', import.meta.url));
const assets = fileURLToPath(new URL('assets/shop', import.meta.url));
const script = fileURLToPath(new URL('script.json', import.meta.url));
const slug = 'team/demo/shop';

/** What the person on the platform writes. */
const ours = {
  title: '满减优惠算错了',
  body: '一单正好 300 元时应该减 40 元，现在只减了 10 元。README 里写了满减的规则，`npm test` 有一个用例是红的。',
  request: '请修复这个满减优惠的问题，补上缺的测试，然后提交一个 PR。',
};
const general = {
  title: '测试没有通过',
  body: '仓库里的测试没有全部通过。',
  request: '请修复没有通过的测试，然后提交一个 PR。',
};

/** Both test servers with everything a mention needs. */
export interface Stage {
  readonly platform: CnbServer;
  readonly models: ModelServer;
  readonly repository: FakeRepository;
  readonly issue: FakeIssue;
  readonly request: string;
  /** Posts the comment that mentions the agent, and waits until its build has ended. */
  play(): Promise<Build>;
  close(): Promise<void>;
}

interface StageOptions {
  /** State folder of the run; the platform's files lie in it too. */
  readonly folder: string;
  /** Script and repository of somebody's own. */
  readonly script?: string;
  readonly repo?: string;
  /** An allow-list; the platform's variables and the model's address are added for the run. */
  readonly env: Environment;
  say(line: string): void;
}

/**
 * Sets up the platform with a repository, an issue, a person and our role, and the server that plays the models. What had been
 * started is down again when it throws; `AppError('usage')` when the repository cannot be used.
 */
export async function setStage(options: StageOptions): Promise<Stage> {
  const models = await startModelServer({ script: await readScript(resolve(options.script ?? script)) });
  try {
    return await stageWith(models, options);
  } catch (error) {
    await models.close();
    throw error;
  }
}

async function stageWith(models: ModelServer, options: StageOptions): Promise<Stage> {
  const forRun = { OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted', NPC_STATE_DIR: options.folder };
  const stage =
    (command: string): StartRun =>
    (env, cwd) => {
      const child = spawn(process.execPath, [main, command], { cwd, env: { ...options.env, ...env, ...forRun } });
      createInterface({ input: child.stderr }).on('line', (line) => options.say(`  ${line}`));
      return child;
    };
  const platform = await startCnbServer({
    folder: join(options.folder, 'platform'),
    startRun: stage('run'),
    failStages: [stage('finish')],
    endStages: [stage('finish')],
  });
  const text = options.repo === undefined ? ours : general;
  const from = resolve(options.repo ?? assets);
  const repository = await platform.createRepository({ slug, from }).catch(async (error: unknown) => {
    await platform.close();
    throw new AppError('usage', `cannot make the demo's repository from ${from}: ${reasonOf(error)}`, { cause: error });
  });
  platform.createUser({ username: 'xiaoming', nickname: '小明' });
  const mention = platform.defineNpc({ slug: 'team/npc-crew', name: 'Agent' });
  const issue = platform.createIssue({ slug, author: 'xiaoming', title: text.title, body: text.body });
  return {
    platform,
    models,
    repository,
    issue,
    request: text.request,
    async play() {
      platform.comment({
        slug,
        number: issue.number,
        author: 'xiaoming',
        body: `${mention} ${text.request}`,
        workMode: true,
      });
      const build = platform.builds.at(-1);
      if (!build) throw new Error('the mention started no build');
      await build.done;
      return build;
    },
    async close() {
      await platform.close();
      await models.close();
    },
  };
}

/** What git itself said, on one line; else the error's own words. */
function reasonOf(error: unknown): string {
  const { stderr } = { stderr: '', ...(error as { stderr?: unknown }) };
  const said = typeof stderr === 'string' ? stderr.trim() : '';
  return (said || messageOf(error)).replaceAll(/\s*\n\s*/g, '; ');
}
