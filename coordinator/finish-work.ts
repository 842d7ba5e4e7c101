import { branchNames, deliver } from './deliver.ts';
import type { Forge } from './forge.ts';
import type { Journal } from './journal.ts';
import type { CoordinatorOptions, OpenedWorkshop } from './options.ts';
import { postReview } from './post-review.ts';
import { hermesReview } from './review.ts';
import type { Trigger } from './trigger.ts';
import { type Decision, decide } from './verdict.ts';
import type { Work, WorkEnd } from './work.ts';

/** What work is brought to its end with. */
export interface FinishParts {
  readonly trigger: Trigger;
  /** Of the thread that asked. */
  readonly title: string;
  readonly journal: Journal;
  readonly work: Work;
  readonly opened: Pick<OpenedWorkshop, 'workshop' | 'remote'>;
  readonly forge: Forge | undefined;
  readonly judge: CoordinatorOptions['judge'];
  readonly runKey: string;
  readonly signal: AbortSignal;
  /** Tells and logs that a step of the run begins; throws when the run is to end. */
  readonly step: (name: string) => Promise<void>;
}

/** Hands over what the work came to: an answer and a review as they are, a change after it was proved and delivered. */
export async function finishWork(end: WorkEnd, parts: FinishParts): Promise<Decision> {
  if (end.kind === 'change') return proveAndDeliver(end, parts);
  const { trigger, journal, forge } = parts;
  if (end.kind === 'review') {
    const reviewable = trigger.thread?.kind === 'pr' ? forge : undefined;
    await postReview({ journal, forge: reviewable, issues: end.result.issues });
  }
  const text = end.kind === 'answer' ? end.text : end.result.summary;
  await journal.write({ type: 'work.answered', kind: end.kind, text });
  return decide(null, '', '');
}

async function proveAndDeliver(
  end: Extract<WorkEnd, { kind: 'change' }>,
  { trigger, title, journal, work, opened: { workshop, remote }, forge, judge, runKey, signal, step }: FinishParts,
): Promise<Decision> {
  const reviewed = await hermesReview(end, { trigger, journal, workshop, work, judge, signal });
  if (reviewed.decision.verdict === 'red') return reviewed.decision;
  await step('deliver');
  const { wip: wipBranch } = branchNames(trigger, runKey);
  const { sha, decision: intended } = reviewed;
  const proved = { trigger, journal, forge, remote, sha, title, wipBranch, decision: intended };
  const { delivered, decision } = await deliver(proved);
  await journal.write({
    type: 'work.delivered',
    branch: delivered.branch,
    branch_url: delivered.branchUrl,
    sha: delivered.sha,
    pull_number: delivered.pullNumber,
    pull_url: delivered.pullUrl,
    wip: delivered.wip,
  });
  return decision;
}
