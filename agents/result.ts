import type { LoopOutcome } from '../core/loop-options.ts';
import { type Issue, MAX_INLINE_TEXT, type TaskResultPayload } from '../protocol/index.ts';

/**
 * What a task comes to: the submitted result, the answer to a question, or a failure with a blocking issue that names why the loop
 * stopped (`evidence` is `model_error:<kind>` or `loop_stopped:<reason>`). Each entry of `leftRunning` is a process that had to be ended; its
 * issue's evidence is `left_running: <processes>`.
 */
export function resultOf(
  outcome: LoopOutcome,
  options: { answers: boolean; leftRunning: readonly string[] },
): TaskResultPayload {
  const result = outcome.result ?? (options.answers ? answerOf(outcome) : undefined) ?? failureOf(outcome);
  if (options.leftRunning.length === 0) return result;
  return { ...result, issues: [...result.issues, leftRunningIssue(options.leftRunning)] };
}

function answerOf({ reason, answer = '' }: LoopOutcome): TaskResultPayload | undefined {
  if (reason !== 'answered') return undefined;
  const text = answer.slice(0, MAX_INLINE_TEXT);
  return {
    status: 'success',
    summary: answer.slice(0, 2000),
    artifacts: [{ kind: 'text', title: 'answer', text }],
    issues: [],
  };
}

function failureOf({ reason, message, errorKind, answer }: LoopOutcome): TaskResultPayload {
  // a request that the provider found too long is the provider's failure; one that the loop did not send is a stop
  const byModel = reason === 'model_error' || errorKind === 'context_length';
  const evidence = byModel ? `model_error:${errorKind}` : `loop_stopped:${reason}`;
  const words = answer === undefined ? message : `It ended with text instead of a result: ${answer}`;
  const issue: Issue = { severity: 'blocking', message: words.slice(0, 4000), evidence };
  return { status: 'failed', summary: (answer ?? message).slice(0, 2000), artifacts: [], issues: [issue] };
}

function leftRunningIssue(processes: readonly string[]): Issue {
  const list = processes.slice(0, 10).join('; ').slice(0, 3900);
  return {
    severity: 'blocking',
    message: `Work was left running in the background and had to be ended: ${list}`,
    evidence: `left_running: ${list}`,
  };
}
