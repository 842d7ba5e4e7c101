import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../base/log.ts';
import { createMasker } from '../../base/mask.ts';
import { sleep } from '../../base/time.ts';
import { type Environment, environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { adviceFor } from '../../coordinator/advice.ts';
import type { Forge, ThreadComment } from '../../coordinator/forge.ts';
import { readMarker } from '../../coordinator/report/marker.ts';
import { runCoordinator } from '../../coordinator/run.ts';
import type { Trigger } from '../../coordinator/trigger.ts';
import { type Decision, decide } from '../../coordinator/verdict.ts';
import type { Model } from '../../core/model.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { reportFault } from '../fault.ts';
import { say } from '../print.ts';
import { abortOnSignal } from '../signals.ts';
import { openStateFolder, stateRoot, workIn } from '../state-folder.ts';
import { version } from '../version.ts';
import { type Errand, forgeOf, readErrand } from './errand.ts';
import { openRunHub } from './run-hub.ts';
import { wasStopped } from './stopped.ts';

/** How often a comment that another run may be working on is looked at, ms. */
const LOOK_MS = 10_000;

/** How long a run that is about to end is waited for, ms: longer than the grace that a signal leaves it. */
const PATIENCE_MS = 20_000;

/** Completes the comment of this build's run when the run could not; returns the exit code. */
export async function finishRun(options: { state?: string }): Promise<number> {
  const env = environment();
  const errand = await readErrand({ drawnKey: '' }, env);
  if ('line' in errand) {
    say(`npc-crew: ${errand.line}`);
    return errand.exit;
  }
  const places = readConfig(PlaceSettings, { flags: options, environment: env });
  const path = places.state ?? join(stateRoot(env), errand.runKey);
  const { folder, close } = await openStateFolder(path, errand.trigger.thread);
  const log = openDiagnostics(folder, places.logLevel);
  try {
    return await finish(errand, folder, env, log);
  } catch (error) {
    return reportFault(error, folder);
  } finally {
    await close();
  }
}

async function finish(errand: Errand, folder: string, env: Environment, log: Log): Promise<number> {
  const forge = forgeOf(errand, env, log);
  if (!forge) return 0;
  const signal = abortOnSignal();
  let comment = await ourComment(forge, errand.runKey);
  if (isFinal(comment)) return leave('the comment is final');
  const failed = env.CNB_PIPELINE_STATUS !== 'success';
  if (!comment && !failed) return leave('the run had nothing to say');
  if (await workIn(folder)) {
    // the run of a build that failed is about to end
    if (!failed || !(await ended(folder, signal))) return leave('the run is still at work');
    comment = await ourComment(forge, errand.runKey);
    if (isFinal(comment)) return leave('the comment is final');
  }
  const remembered = await access(join(folder, 'log.db')).then(
    () => true,
    () => false,
  );
  if (comment && !remembered && (await renewed(comment, forge, signal)))
    return leave('another run works on the comment');
  await complete(errand, forge, folder, env, log, signal);
  say('npc-crew: the comment is complete now');
  return 0;
}

/** Waits for the process that works in the folder; false when it goes on all the same. */
async function ended(folder: string, signal: AbortSignal): Promise<boolean> {
  say('npc-crew: the run is still at work: waiting for its end');
  const until = performance.now() + PATIENCE_MS;
  while (await workIn(folder)) {
    if (performance.now() > until) return false;
    await sleep(250, signal);
  }
  return true;
}

function isFinal(comment: ThreadComment | undefined): boolean {
  const state = comment && readMarker(comment.body)?.state;
  return state !== undefined && state !== 'live';
}

function leave(why: string): number {
  say(`npc-crew: nothing to finish: ${why}`);
  return 0;
}

/** The comment that stands for this run. */
async function ourComment(forge: Forge, runKey: string): Promise<ThreadComment | undefined> {
  const { comments } = await forge.readThread();
  return comments.find(({ author, body }) => {
    const marker = readMarker(body);
    return author.isNpc && marker?.runKey === runKey && marker.state !== 'pointer';
  });
}

/** Without a state folder the comment may be another run's: waits until its time is over; true when somebody renews or ends it. */
async function renewed(comment: ThreadComment, forge: Forge, signal: AbortSignal): Promise<boolean> {
  const until = readMarker(comment.body)?.liveUntil ?? 0;
  while (Date.now() < until) {
    await sleep(Math.min(LOOK_MS, until - Date.now() + 1), signal);
    const now = await forge.readComment(comment.id);
    if (now && now.body !== comment.body) return true;
  }
  return false;
}

/** The run is taken up once more, only to say how it ended: what its log already decided counts, else the reason given here. */
async function complete(
  errand: Errand,
  forge: Forge,
  folder: string,
  env: Environment,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { trigger, runKey } = errand;
  const hub = await openRunHub({ folder, runKey, log });
  try {
    await runCoordinator({
      trigger,
      runKey,
      version,
      forge,
      client: hub.client,
      trusted: [],
      spawn: () => Promise.reject(new Error('a run that is being finished starts no agents')),
      judge: noModel,
      flash: noModel,
      revokeTask: () => {},
      openWorkshop: () => Promise.reject(new Error('a run that is being finished changes nothing')),
      impossible: endOf(env, await wasStopped(folder), trigger),
      ...(hub.setAside && { setAside: hub.setAside }),
      stateDir: folder,
      masker: createMasker(forge.remote.secrets),
      log,
      signal,
      say,
    });
  } finally {
    await hub.close();
  }
}

/** What the platform and the state folder say about the end of a run that cannot say it any more. */
function endOf(env: Environment, stopped: boolean, trigger: Trigger): Decision {
  const cause = stopped || env.CNB_PIPELINE_STATUS === 'cancel' ? 'interrupted' : 'crashed';
  const zh = trigger.language === 'zh-CN';
  const why = env.CNB_BUILD_FAILED_MSG?.split('\n')[0]?.slice(0, 300);
  const message = zh ? '运行没有完成就结束了' : 'The run ended before it was done';
  return decide(
    cause,
    why ? `${message}${zh ? '：' : ': '}${why}` : `${message}${zh ? '。' : '.'}`,
    adviceFor(cause, trigger),
  );
}

const noModel: Model = { reply: () => Promise.reject(new Error('a run that is being finished asks no model')) };
