import type { Cause, Verdict } from '../protocol/index.ts';

/** How a run ended. `verdict` is null for what has none (interrupted, cancelled). */
export interface Decision {
  readonly verdict: Verdict | null;
  readonly cause: Cause | null;
  /** What happened, for people; may be empty. */
  readonly message: string;
  /** What the user does now. */
  readonly nextStep: string;
  /** Whether the same run again could end better. */
  readonly rerunHelps: boolean;
}

/** Which verdict a cause leads to, and whether running again helps: the table of the design, as data. */
const causes: Readonly<Record<Cause, { verdict: Verdict | null; rerunHelps: boolean }>> = {
  unverified: { verdict: 'partial', rerunHelps: false },
  needs_input: { verdict: 'partial', rerunHelps: false },
  toolchain_missing: { verdict: 'partial', rerunHelps: false },
  time_limit: { verdict: 'partial', rerunHelps: true },
  budget: { verdict: 'partial', rerunHelps: false },
  step_limit: { verdict: 'partial', rerunHelps: false },
  conflict: { verdict: 'partial', rerunHelps: true },
  push_rejected: { verdict: 'partial', rerunHelps: true },
  review_rejected: { verdict: 'partial', rerunHelps: false },
  upstream_error: { verdict: 'red', rerunHelps: true },
  auth: { verdict: 'red', rerunHelps: false },
  quota: { verdict: 'red', rerunHelps: false },
  rate_limited: { verdict: 'red', rerunHelps: true },
  empty_reply: { verdict: 'red', rerunHelps: true },
  left_running: { verdict: 'red', rerunHelps: true },
  artifact_missing: { verdict: 'red', rerunHelps: true },
  tests_failing: { verdict: 'red', rerunHelps: true },
  no_change: { verdict: 'red', rerunHelps: true },
  no_permission: { verdict: 'red', rerunHelps: false },
  no_worker: { verdict: 'red', rerunHelps: true },
  misconfigured: { verdict: 'red', rerunHelps: false },
  disk_full: { verdict: 'red', rerunHelps: false },
  crashed: { verdict: 'red', rerunHelps: true },
  stalled: { verdict: 'red', rerunHelps: true },
  tests_weakened: { verdict: 'red', rerunHelps: true },
  unproven: { verdict: 'red', rerunHelps: true },
  interrupted: { verdict: null, rerunHelps: true },
  cancelled: { verdict: null, rerunHelps: false },
};

/** The exit code that a decision ends the process with; `signal` is the one that interrupted it. */
export function exitOf(decision: Pick<Decision, 'verdict' | 'cause'>, signal?: 'SIGINT' | 'SIGTERM'): number {
  if (decision.cause === 'cancelled') return 0;
  if (decision.cause === 'interrupted') return signal === 'SIGINT' ? 130 : 143;
  if (decision.verdict === 'green') return 0;
  return decision.verdict === 'partial' ? 4 : 3;
}

/** A decision for a cause; the verdict and whether running again helps follow from the table. */
export function decide(cause: Cause | null, message: string, nextStep: string): Decision {
  const row = cause === null ? { verdict: 'green' as const, rerunHelps: false } : causes[cause];
  return { ...row, cause, message, nextStep };
}

/** Thrown inside a run by whoever finds that it cannot go on; the run ends with this decision. */
export class RunEnd extends Error {
  readonly decision: Decision;

  constructor(decision: Decision) {
    super(decision.message);
    this.name = 'RunEnd';
    this.decision = decision;
  }
}

/** Ends the run from wherever it is. */
export function endRun(cause: Cause, message: string, nextStep: string): never {
  throw new RunEnd(decide(cause, message, nextStep));
}
