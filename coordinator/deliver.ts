import { adviceFor } from './advice.ts';
import { once } from './effects.ts';
import type { Forge } from './forge.ts';
import type { Journal } from './journal.ts';
import type { Delivered } from './record.ts';
import { renderPullBody } from './report/pull.ts';
import type { Trigger } from './trigger.ts';
import { type Decision, decide } from './verdict.ts';

/** How a push ended. */
export type PushOutcome =
  | { readonly kind: 'ok' }
  /** `moved`: the branch holds commits that this push does not; `declined`: a rule or hook of the remote said no. */
  | { readonly kind: 'rejected'; readonly reason: 'moved' | 'declined'; readonly message: string }
  | { readonly kind: 'forbidden' | 'unreachable'; readonly message: string };

/** The remote as delivery needs it. */
export interface DeliveryRemote {
  push(sha: string, branch: string, options: { readonly skipCi: boolean }): Promise<PushOutcome>;
  /** The commit a branch points to; undefined when there is no such branch. */
  headOf(branch: string): Promise<string | undefined>;
  remove(branch: string): Promise<boolean>;
}

interface DeliverOptions {
  readonly trigger: Trigger;
  readonly journal: Journal;
  readonly forge: Forge | undefined;
  readonly remote: DeliveryRemote;
  readonly sha: string;
  readonly title: string;
  readonly wipBranch: string;
  /** The decision if delivery succeeds. */
  readonly decision: Decision;
}

/** Branch names of a run; `run8` is the first eight digits of its key. */
export function branchNames(trigger: Trigger, runKey: string): { delivery: string; wip: string } {
  const run8 = runKey.slice(0, 8);
  if (!trigger.thread) return { delivery: `npc/goal-${run8}`, wip: `npc/wip/goal-${run8}` };
  const place = `${trigger.thread.kind === 'issue' ? 'issue' : 'pr'}-${trigger.thread.number}-${run8}`;
  return { delivery: `npc/${place}`, wip: `npc/wip/${place}` };
}

/**
 * Hands the change over: a branch and a pull request for an issue, a fast-forward of the user's own branch for a pull request, a local
 * branch for `--goal`. Never forced. What was pushed is read back; a pushed branch that does not point to the tested commit is no delivery.
 */
export async function deliver(options: DeliverOptions): Promise<{ delivered: Delivered; decision: Decision }> {
  const { trigger, journal, forge, remote, sha } = options;
  const names = branchNames(trigger, journal.runKey);
  const branch = trigger.thread?.kind === 'pr' ? (trigger.pullBranch ?? names.delivery) : names.delivery;
  const wip = { wip: options.wipBranch };

  const push = await once<PushOutcome>(journal, {
    key: `push:${branch}:${sha}`,
    kind: 'push',
    content: sha,
    find: async () => ((await remote.headOf(branch)) === sha ? { kind: 'ok' } : undefined),
    act: () => remote.push(sha, branch, { skipCi: false }),
  });
  if (push.kind !== 'ok') {
    const cause =
      push.kind === 'forbidden' ? 'no_permission' : push.kind === 'rejected' ? 'push_rejected' : 'upstream_error';
    return {
      delivered: wip,
      decision: decide(cause, notPushed(push, branch, trigger), adviceFor(cause, trigger)),
    };
  }
  const head = await remote.headOf(branch);
  if (head !== sha) {
    const message = `${branch} points to ${head ?? 'nothing'} and not to ${sha}`;
    return { delivered: wip, decision: decide('push_rejected', message, adviceFor('push_rejected', trigger)) };
  }
  const placed: Delivered = { branch, sha, ...(forge && { branchUrl: forge.branchUrl(branch) }) };
  if (!forge || trigger.thread?.kind !== 'issue') return finish(options, placed);
  const pull = await openPull(options, forge, branch);
  return finish(options, { ...placed, pullNumber: pull.number, pullUrl: pull.url });
}

/** Why a push did not succeed, in words where what git says has none. */
function notPushed(push: Exclude<PushOutcome, { kind: 'ok' }>, branch: string, { language }: Trigger): string {
  const zh = language === 'zh-CN';
  if (push.kind === 'rejected' && push.reason === 'moved') {
    return zh
      ? `运行期间 \`${branch}\` 上有了新的提交，所以没有推送到它上面。`
      : `\`${branch}\` got new commits while the run worked, so nothing was pushed to it.`;
  }
  return `${zh ? `没能推送到 \`${branch}\`` : `\`${branch}\` could not be pushed to`}: ${push.message}`;
}

async function openPull(
  options: DeliverOptions,
  forge: Forge,
  branch: string,
): Promise<{ number: string; url: string }> {
  const { trigger, journal, sha } = options;
  return once(journal, {
    key: `pull:${branch}`,
    kind: 'pull',
    content: sha,
    find: async () => {
      const found = await forge.findPull(branch);
      return found && { number: found.number, url: found.url };
    },
    act: async () => {
      const title = [...options.title].slice(0, 200).join('');
      const body = renderPullBody({
        language: trigger.language,
        issue: trigger.thread?.number ?? '',
        record: journal.record,
        runKey: journal.runKey,
      });
      const pull = await forge.openPull({ title, body, head: branch, base: trigger.baseBranch });
      return { number: pull.number, url: pull.url };
    },
  });
}

/** The work-in-progress branch goes when its work is delivered; where that is refused the comment names it. */
async function finish(
  options: DeliverOptions,
  delivered: Delivered,
): Promise<{ delivered: Delivered; decision: Decision }> {
  const removed = await once<boolean>(options.journal, {
    key: `branch:remove:${options.wipBranch}`,
    kind: 'branch',
    content: options.wipBranch,
    find: async () => ((await options.remote.headOf(options.wipBranch)) === undefined ? true : undefined),
    act: () => options.remote.remove(options.wipBranch),
  });
  return { delivered: removed ? delivered : { ...delivered, wip: options.wipBranch }, decision: options.decision };
}
