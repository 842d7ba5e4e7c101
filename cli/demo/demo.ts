import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { childEnv, environment } from '../../config/index.ts';
import { Exit } from '../exit-code.ts';
import { print, say } from '../print.ts';
import { aborted, abortOnSignal } from '../signals.ts';
import { makeStateFolder, stateRoot } from '../state-folder.ts';
import { gatherOutcome } from './outcome.ts';
import { setStage } from './stage.ts';
import { tellOutcome } from './tell.ts';

/** What `npc-crew demo` was told. */
export interface DemoOptions {
  readonly json?: boolean;
  readonly keepOpen?: boolean;
  readonly script?: string;
  readonly repo?: string;
  readonly state?: string;
}

/** Plays a mention from the comment to the pull request and returns the exit code of its run. */
export async function demo(options: DemoOptions): Promise<number> {
  const env = environment();
  const signal = abortOnSignal();
  // NPC_STATE_DIR is a run's; each demo has a folder of its own
  const folder = await makeStateFolder(options.state ?? join(stateRoot(env), `demo-${randomBytes(4).toString('hex')}`));
  const { script, repo } = options;
  const forRun = childEnv(env);
  const stage = await setStage({ folder, env: forRun, say, ...(script && { script }), ...(repo && { repo }) });
  try {
    say(`platform ${stage.platform.url}, models ${stage.models.url}, state in ${folder}`);
    say(`xiaoming mentions the agent in issue ${stage.issue.number}: ${stage.issue.title}`);
    const started = performance.now();
    const build = await Promise.race([stage.play(), aborted(signal).then(() => undefined)]);
    if (!build) return signal.reason === 'SIGINT' ? Exit.interrupted : Exit.terminated;
    const played = await gatherOutcome(stage, build, folder, (performance.now() - started) / 1000);
    if (options.json) await print(JSON.stringify(played.outcome));
    else for (const line of await tellOutcome(played, stage, forRun)) await print(line);
    if (options.keepOpen) {
      say(`\nplatform ${stage.platform.url} and models ${stage.models.url} stay up; Ctrl-C ends them`);
      await aborted(signal);
    }
    return build.exitCode ?? Exit.fault;
  } finally {
    await stage.close();
  }
}
