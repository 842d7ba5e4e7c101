import { messageOf } from '../base/errors.ts';
import { untilAborted } from '../base/promises.ts';
import type { Clock } from '../base/time.ts';
import type { LoopEvent } from '../protocol/index.ts';
import type { Hook, HookAnswer, HookPoint, HookPoints } from './hook.ts';

/** How often one hook may turn a result down, so that none can hold a role for ever. */
const MAX_SUBMIT_REFUSALS = 2;

interface HookRunnerOptions {
  readonly hooks: readonly Hook[];
  readonly record: (event: LoopEvent) => Promise<void>;
  readonly signal: AbortSignal;
  readonly limitMs: number;
  readonly clock: Clock;
}

export type HookRunner = ReturnType<typeof createHookRunner>;

/** Runs hooks with a time limit. One that throws or takes too long is logged as failed and counts as silent. */
export function createHookRunner({ hooks, record, signal, limitMs, clock }: HookRunnerOptions) {
  const submitRefusals = new Map<Hook, number>();

  async function answerOf<P extends HookPoint>(hook: Hook, point: P, seen: HookPoints[P]): Promise<HookAnswer<P>> {
    const limit = new AbortController();
    const timer = clock.after(limitMs, () => limit.abort(new Error(`no answer within ${limitMs} ms`)));
    const either = AbortSignal.any([signal, limit.signal]);
    try {
      return await untilAborted((async () => hook.at[point]?.(seen, either))(), either);
    } catch (error) {
      signal.throwIfAborted();
      await record({ type: 'hook.failed', hook: hook.name, point, message: messageOf(error) });
    } finally {
      timer.cancel();
    }
  }

  return {
    /** Asks the hooks at a point in their order: what they made of the value, and the first refusal, which ends the asking. */
    async ask<P extends HookPoint>(point: P, value: HookPoints[P]): Promise<{ seen: HookPoints[P]; refusal?: string }> {
      let seen = value;
      for (const hook of hooks) {
        const refusals = point === 'submit.before' ? (submitRefusals.get(hook) ?? 0) : 0;
        if (hook.at[point] === undefined || refusals >= MAX_SUBMIT_REFUSALS) continue;
        const answer = await answerOf(hook, point, seen);
        if (answer && 'replace' in answer) seen = answer.replace;
        if (!answer || 'replace' in answer) continue;
        if (point === 'submit.before') submitRefusals.set(hook, refusals + 1);
        await record({ type: 'hook.refused', hook: hook.name, point, reason: answer.refuse });
        return { seen, refusal: `${hook.name} refuses: ${answer.refuse}` };
      }
      return { seen };
    },
  };
}
