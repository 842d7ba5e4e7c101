import { AppError } from '../base/errors.ts';
import { ModelError } from '../core/model.ts';
import type { Cause, TaskResultPayload } from '../protocol/index.ts';

/** The cause of a run whose task got no result, from the hub's word for it. */
export function causeOfDeath(reason: string): Cause {
  if (/no_worker/.test(reason)) return 'no_worker';
  if (/cancel/.test(reason)) return 'cancelled';
  if (/lost|crash|disconnect|without its session|exited/.test(reason)) return 'crashed';
  return 'stalled';
}

/** Kinds of model errors that have a cause of their own; all others are `upstream_error`. */
const modelCauses: Readonly<Record<string, Cause>> = {
  quota: 'quota',
  rate_limit: 'rate_limited',
  auth: 'auth',
  empty: 'empty_reply',
  misconfigured: 'misconfigured',
  budget: 'budget',
};

/** The cause of a run that a failing model ended. */
function causeOfModelError(kind: string): Cause {
  return modelCauses[kind] ?? 'upstream_error';
}

const stopCauses: Readonly<Record<string, Cause>> = {
  step_limit: 'step_limit',
  no_progress: 'stalled',
  budget: 'budget',
  empty_reply: 'empty_reply',
  context_full: 'step_limit',
};

/** Why a failed result ends the run at once, where no return could mend it; undefined when the work may go back. */
export function causeOfFailure(result: TaskResultPayload): { cause: Cause; message: string } | undefined {
  if (result.status !== 'failed') return undefined;
  for (const issue of result.issues) {
    const [tag, kind = ''] = (issue.evidence ?? '').split(':');
    if (tag === 'model_error') return { cause: causeOfModelError(kind), message: issue.message };
    const stop = tag === 'loop_stopped' ? stopCauses[kind] : undefined;
    if (stop) return { cause: stop, message: issue.message };
  }
  return undefined;
}

/** The cause of a run that an error ended which nobody judged. */
export function causeOfError(error: unknown): Cause {
  if (error instanceof ModelError) return causeOfModelError(error.kind);
  const code = error instanceof AppError ? error.code : 'internal';
  if (code === 'misconfigured' || code === 'disk_full') return code;
  return code === 'forge' || code === 'model' ? 'upstream_error' : 'crashed';
}
