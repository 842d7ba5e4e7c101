/** What is read of a logged frame to tell the attempts of its task. */
export interface AttemptFrame {
  readonly ts: number;
  readonly type: string;
  readonly from: string;
  readonly attempt: number | null;
  readonly payload: unknown;
}

/** Types whose payload tells something of attempts; that of others is not looked at. */
export const tellingTypes: ReadonlySet<string> = new Set(['task.status', 'task.result']);

/** How an offer or an attempt ended: `void` is an offer that came to nothing, and its number is used again. */
export type AttemptOutcome = 'success' | 'failed' | 'void' | 'lost' | 'released' | 'cancelled';

/** One offer of a task and what came of it; times are ms since epoch, null = not yet, or not at all. */
export interface Attempt {
  readonly attempt: number;
  readonly agent: string;
  readonly offered: number;
  accepted: number | null;
  ended: number | null;
  outcome: AttemptOutcome | null;
  /** Why it ended, in words. */
  reason: string | null;
  /** How long the task waited in the queue for this offer, ms. */
  readonly waited_ms: number;
}

/** Folds the frames of one task, in log order, into its attempts. */
export class AttemptFold {
  readonly attempts: Attempt[] = [];
  #queuedAt: number | undefined;
  /** Who gave the attempt back; what the hub says of it comes after. */
  #givenBack: number | undefined;

  take(frame: AttemptFrame): void {
    const { type, ts } = frame;
    this.#queuedAt ??= ts;
    // a register_task that comes later changes nothing
    if (type === 'task.assign') this.#queuedAt = ts;
    else if (type === 'task.release') this.#givenBack = frame.attempt ?? undefined;
    else if (type === 'task.result') this.#close(ts, statusOf(frame.payload), null);
    else if (type === 'task.status') this.#status(ts, frame.payload as Status);
  }

  /** Ends what is still open by where the task stands now: a level-0 worker's end is no `task.result`. */
  finish(subState: string, updated: number, reason: string | null): void {
    if (subState === 'done') this.#close(updated, 'success', reason);
    else if (subState === 'failed') this.#close(updated, 'failed', reason);
  }

  #status(ts: number, { sub_state: subState, attempt, agent, reason }: Status): void {
    const open = this.attempts.findLast((entry) => entry.ended === null);
    switch (subState) {
      case 'offered':
        this.#open(ts, attempt, agent);
        return;
      case 'working':
        if (open === undefined) this.#open(ts, attempt, agent).accepted = ts;
        else open.accepted ??= ts;
        return;
      case 'queued':
        if (open !== undefined) this.#close(ts, this.#lossOf(open, attempt), reason);
        this.#queuedAt = ts;
        return;
      case 'dead':
        this.#close(ts, 'lost', reason);
        return;
      case 'cancelled':
        if (open !== undefined) this.#close(ts, 'cancelled', reason);
        return;
      default:
    }
  }

  #open(ts: number, attempt: number, agent: string | null): Attempt {
    const entry: Attempt = {
      attempt,
      agent: agent ?? '',
      offered: ts,
      accepted: null,
      ended: null,
      outcome: null,
      reason: null,
      waited_ms: ts - (this.#queuedAt ?? ts),
    };
    this.attempts.push(entry);
    return entry;
  }

  #close(ts: number, outcome: AttemptOutcome, reason: string | null): void {
    const open = this.attempts.findLast((entry) => entry.ended === null);
    if (open !== undefined) Object.assign(open, { ended: ts, outcome, reason });
  }

  #lossOf(open: Attempt, attempt: number): AttemptOutcome {
    if (attempt < open.attempt) return 'void';
    return this.#givenBack === open.attempt ? 'released' : 'lost';
  }
}

interface Status {
  readonly sub_state: string;
  readonly attempt: number;
  readonly agent: string | null;
  readonly reason: string;
}

function statusOf(payload: unknown): 'success' | 'failed' {
  return (payload as { status?: unknown } | null)?.status === 'success' ? 'success' : 'failed';
}
