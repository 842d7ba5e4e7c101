import { randomBytes } from 'node:crypto';
import { ModelError } from '../../core/model.ts';

/** Who holds a process token. */
export interface Process {
  readonly agent: string;
  readonly role: string;
  /** It pays from a slice that was cut for this attempt. */
  readonly sliced?: boolean;
}

/** Who pays for a call, and until when it may be made. */
export interface Attempt extends Process {
  readonly taskId: string;
  readonly attempt: number;
  /** Fires when a newer attempt took over or the task was revoked. */
  readonly signal: AbortSignal;
}

/** The tokens of one run; they exist in memory only and are worth nothing to any provider. */
export class Tokens {
  readonly #processes = new Map<string, Process>();
  readonly #attempts = new Map<string, Attempt>();
  /** Tokens that were taken back, so that their holders are told why. */
  readonly #dead = new Set<string>();
  readonly #tasks = new Map<string, { attempt: number; token: string; controller: AbortController; over: boolean }>();

  grantProcess(process: Process): string {
    const token = makeToken();
    this.#processes.set(token, process);
    return token;
  }

  process(token: string): Process | undefined {
    return this.#processes.get(token);
  }

  /** The token of one attempt; older attempts of the task lose theirs. Throws ModelError `cancelled` when this one is older or revoked. */
  grantAttempt(process: Process, taskId: string, attempt: number): string {
    const current = this.#tasks.get(taskId);
    if (current && (attempt < current.attempt || (attempt === current.attempt && current.over))) {
      throw overError(taskId, attempt);
    }
    this.revokeTask(taskId);
    const token = makeToken();
    const controller = new AbortController();
    this.#tasks.set(taskId, { attempt, token, controller, over: false });
    this.#attempts.set(token, { ...process, taskId, attempt, signal: controller.signal });
    return token;
  }

  /** The attempt a token stands for; undefined when it is unknown. Throws ModelError `cancelled` when it was taken back. */
  attempt(token: string): Attempt | undefined {
    if (this.#dead.has(token)) {
      throw new ModelError(
        'cancelled',
        'This attempt is over, and so is its token; take the task up again to get a new one.',
        {
          retryable: false,
        },
      );
    }
    return this.#attempts.get(token);
  }

  /**
   * Ends the task's attempt: its token dies, its calls are aborted. A later attempt can still be granted. Returns the agent whose slice
   * ends with it.
   */
  revokeTask(taskId: string): string | undefined {
    const current = this.#tasks.get(taskId);
    if (!current || current.over) return undefined;
    current.over = true;
    const attempt = this.#attempts.get(current.token);
    this.#attempts.delete(current.token);
    this.#dead.add(current.token);
    current.controller.abort(overError(taskId, current.attempt));
    return attempt?.sliced ? attempt.agent : undefined;
  }
}

function overError(taskId: string, attempt: number): ModelError {
  return new ModelError('cancelled', `Attempt ${attempt} of task ${taskId} is over; its calls are no longer served.`, {
    retryable: false,
  });
}

function makeToken(): string {
  return `npc-${randomBytes(32).toString('base64url')}`;
}
