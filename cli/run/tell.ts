import type { RunOutcome } from '../../coordinator/options.ts';
import { print, say } from '../print.ts';
import type { Errand } from './errand.ts';

/** The result on stdout: the report, or one line of JSON. */
export async function tell(
  outcome: RunOutcome,
  { runKey, trigger }: Errand,
  { json }: { readonly json?: boolean },
  folder: string,
): Promise<void> {
  if (outcome.taken !== undefined) say(`npc-crew: nothing to do: ${outcome.taken}`);
  const { decision, view } = outcome;
  if (json) {
    const { verdict, cause, message, nextStep } = decision;
    const { branch = null, sha = null, pullNumber = null } = view.record.delivered;
    const result = { verdict, cause, exit: outcome.exit, run_key: runKey, branch, sha, pr_number: pullNumber };
    await print(JSON.stringify({ ...result, message, next_step: nextStep, state_dir: folder }));
  } else if (outcome.report !== '') await print(outcome.report.replace(/^<!--.*-->\n/, ''));
  if (json || trigger.thread) return;
  say(`npc-crew: what was said:      npc-crew log --state ${folder}`);
  const { branch } = view.record.delivered;
  if (branch !== undefined) say(`npc-crew: what was changed:   git diff ${trigger.baseBranch}...${branch}`);
}
