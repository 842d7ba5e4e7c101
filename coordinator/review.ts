import type { Model } from '../core/model.ts';
import type { GateRun } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { ensureGates, failedGates, openGates } from './gate-check.ts';
import type { Journal } from './journal.ts';
import { askJudge, type Evidence } from './judge.ts';
import { artifactMissing, gateFailed, openPoints, testsWeakened } from './objections.ts';
import type { ReviewRecord, RunRecord } from './record.ts';
import { asksForTestChange } from './test-request.ts';
import type { Trigger } from './trigger.ts';
import { type Decision, decide } from './verdict.ts';
import type { Change, Work, WorkEnd } from './work.ts';
import type { Workshop } from './workshop.ts';

/** Times the judge may find something missing before the run ends unproven. */
const ROUNDS = 2;

interface ReviewOptions {
  readonly trigger: Trigger;
  readonly journal: Journal;
  readonly workshop: Workshop;
  readonly work: Work;
  readonly judge: Model;
  readonly signal: AbortSignal;
}

/** What the Hermes review came to: the commit to deliver, and the decision when it is delivered. */
export interface Reviewed {
  readonly sha: string;
  readonly decision: Decision;
}

/**
 * The Hermes review. Facts first: the change exists, tests are not weakened, the repository's commands pass in a clean tree at the very
 * commit that will be pushed. Only then the judge, who can lower the result and never raise it. What fails goes back to the work.
 */
export async function hermesReview(change: Change, options: ReviewOptions): Promise<Reviewed> {
  const { work, journal, workshop, signal } = options;
  const { language } = options.trigger;
  let current: WorkEnd = change;
  let round = 1;
  for (;;) {
    if (current.kind !== 'change') throw new Error('a review follows a change only');
    signal.throwIfAborted();
    const files = await workshop.changedFiles(current.sha);
    await journal.write({ type: 'change.measured', sha: current.sha, files: [...files] });
    if (files.length === 0) return { sha: current.sha, decision: undone(options.trigger) };
    const absent = await absentFiles(current, workshop);
    if (absent.length > 0) {
      const issues = absent.map((path) => artifactMissing(path, language));
      current = await work.sendBack({ cause: 'artifact_missing', by: 'coordinator', issues });
      continue;
    }
    await journal.write({ type: 'step.entered', step: 'gates' });
    const gates = await ensureGates(journal, workshop, { sha: current.sha, added: current.addedCommands, signal });
    const failed = failedGates(gates);
    if (failed.length > 0) {
      const issues = failed.map((gate) => gateFailed(gate, language));
      current = await work.sendBack({ cause: 'tests_failing', by: 'coordinator', issues });
      continue;
    }
    const weakened = await workshop.weakenedTests(current.sha);
    if (weakened.length > 0 && !asksForTestChange(options.trigger.request)) {
      const issues = weakened.map((finding) => testsWeakened(finding, language));
      current = await work.sendBack({ cause: 'tests_weakened', by: 'coordinator', issues });
      continue;
    }
    const unchecked = openGates(gates, await workshop.documentsOnly(current.sha));
    if (unchecked) return { sha: current.sha, decision: openDecision(unchecked, options.trigger) };

    await journal.write({ type: 'step.entered', step: 'review' });
    const { verdict, missing } = await judgeChange(current, gates, files, round, options);
    if (verdict === 'complete') return { sha: current.sha, decision: decide(null, '', nextForGreen(options.trigger)) };
    if (round >= ROUNDS)
      return {
        sha: current.sha,
        decision: decide('unproven', missing.join('\n'), adviceFor('unproven', options.trigger)),
      };
    round += 1;
    // An answer that does not count is the judge's fault, and nothing that a coder could mend.
    if (verdict === 'unreadable') continue;
    const issues = missing.map((message) => ({ severity: 'blocking' as const, message }));
    current = await work.sendBack({ cause: 'unproven', by: 'judge', issues });
  }
}

/** Asks the judge once for this round; the answer of an earlier process of the run counts. */
async function judgeChange(
  change: Change,
  gates: readonly GateRun[],
  files: readonly string[],
  round: number,
  options: ReviewOptions,
): Promise<Pick<ReviewRecord, 'verdict' | 'missing'>> {
  const { journal, judge, trigger, signal } = options;
  const recorded = journal.record.reviews.find((review) => review.round === round);
  if (recorded) return recorded;
  const evidence = collectEvidence(gates, files, journal);
  const judgement = await askJudge({
    model: judge,
    request: trigger.request,
    evidence,
    claim: change.claim,
    turn: round - 1,
    signal,
  });
  const { verdict, cites } = judgement;
  const missing = verdict === 'complete' ? [] : openPoints(judgement, trigger.language);
  await journal.write({ type: 'review.finished', round, verdict, missing, cites: [...cites] });
  return { verdict, missing };
}

/** The evidence in a fixed order, so that its ids stay the same when nothing changed. */
export function collectEvidence(gates: readonly GateRun[], files: readonly string[], journal: Journal): Evidence[] {
  const record = journal.record;
  const facts = [
    `files that differ from the base: ${files.join(', ') || 'none'}`,
    ...gates.map(
      (gate) =>
        `command \`${gate.command}\` (${gate.kind}) at ${gate.sha.slice(0, 12)}: ${gate.missing ? `not run, ${gate.missing} is missing` : `exit ${gate.exit}`}\n${gate.tail.slice(-1500)}`,
    ),
    ...[...record.returns].map(
      ([node, entry]) =>
        `${node} was sent back ${entry.count} time(s), last by ${entry.by}: ${entry.issues.map(({ message }) => message).join('; ')}`,
    ),
    ...toolFacts(journal.record),
  ];
  return facts.map((text, index) => ({ id: `E${index + 1}`, text }));
}

/** What ran for the roles: tool calls of our own agents, and other programs that played one. */
function toolFacts({ toolCalls, programs }: RunRecord): string[] {
  const calls = [...toolCalls].map(
    ([role, { native, rescued, failed }]) => `${role} ${native + rescued} (${failed} failed)`,
  );
  const ends = programs.map(({ by, exit }) => `a program that played ${by} ended with exit code ${exit}`);
  return [...(calls.length > 0 ? [`tool calls that really ran: ${calls.join(', ')}`] : []), ...ends];
}

/** Files that the coder says it made and that are not in the commit, or are empty there. */
async function absentFiles({ sha, claimedFiles }: Change, workshop: Workshop): Promise<string[]> {
  const absent: string[] = [];
  for (const path of claimedFiles) if (!(await workshop.holds(sha, path))) absent.push(path);
  return absent;
}

/** The work came to nothing: what was changed on the way is as it was. */
function undone(trigger: Trigger): Decision {
  const message =
    trigger.language === 'zh-CN'
      ? '最后没有任何文件与基准不同，请求没有完成。'
      : 'In the end no file differs from the base, so the request is not done.';
  return decide('no_change', message, adviceFor('no_change', trigger));
}

function openDecision(open: NonNullable<ReturnType<typeof openGates>>, trigger: Trigger): Decision {
  const zh = trigger.language === 'zh-CN';
  if (open.cause !== 'toolchain_missing') return decide(open.cause, '', adviceFor(open.cause, trigger));
  const programs = open.programs.join(', ');
  return decide(
    'toolchain_missing',
    zh ? `缺少：${programs}` : `missing: ${programs}`,
    adviceFor('toolchain_missing', trigger),
  );
}

function nextForGreen(trigger: Trigger): string {
  const zh = trigger.language === 'zh-CN';
  if (!trigger.thread) return zh ? '查看分支，满意就合并。' : 'Look at the branch, and merge it when you agree.';
  if (trigger.thread.kind === 'pr') return zh ? '查看新提交。' : 'Look at the new commits.';
  return zh ? '查看合并请求，满意就合并。' : 'Look at the pull request, and merge it when you agree.';
}
