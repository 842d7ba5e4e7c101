import { untilAborted } from '../base/promises.ts';
import { systemClock } from '../base/time.ts';
import type { LoopEvent, Turn } from '../protocol/index.ts';
import { offerOf } from './calls.ts';
import { createContextWindow } from './context-window.ts';
import { createHookRunner } from './hook-runner.ts';
import type { LoopLimits, LoopOptions, LoopOutcome } from './loop-options.ts';
import { createProgressGuard } from './progress-guard.ts';
import type { Tool, ToolContext } from './tool.ts';

const defaults: LoopLimits = {
  parallel: 3,
  hookMs: 30_000,
  replyBusyMs: 180_000,
  window: 128_000,
  result: { maxBytes: 32_768, maxLines: 1_000, maxLine: 2_000 },
};

/** What one run of the loop carries from step to step. */
export type Run = ReturnType<typeof createRun>;

export function createRun(options: LoopOptions) {
  const { signal } = options.context;
  const limits = { ...defaults, ...options.limits };
  const clock = options.clock ?? systemClock;
  const offers = options.tools.map(offerOf);
  const alive = options.alive ?? (() => {});
  const record = (event: LoopEvent) => untilAborted(options.record(event), signal);
  const hooks = createHookRunner({ hooks: options.hooks ?? [], record, signal, limitMs: limits.hookMs, clock });
  return {
    ...options,
    limits,
    clock,
    signal,
    alive,
    record,
    offers,
    tools: new Map<string, Tool>(options.tools.map((tool) => [tool.name, tool])),
    toolContext: { ...options.context, memo: new Map(), alive } satisfies ToolContext,
    hooks,
    guard: createProgressGuard(),
    window: createContextWindow({ size: limits.window, overhead: JSON.stringify(offers), hooks }),
    /** The conversation as the model is shown it. */
    turns: [] as readonly Turn[],
    /** Replies so far. */
    steps: 0,
    /** The step whose reply is being dealt with; 0 between cycles. */
    cycle: 0,
    outcome: { reason: 'cancelled', message: '', steps: 0 } as LoopOutcome,
  };
}
