import type { AssistantTurn, LoopState, TaskResultPayload, ToolCall, Turn } from '../protocol/index.ts';
import type { ToolOffer } from './model.ts';
import type { ToolOutcome } from './tool.ts';

/** Where a hook can stand, and what it sees there. What the loop reads again afterwards may be replaced. */
export interface HookPoints {
  'cycle.started': { readonly step: number };
  'cycle.ended': { readonly step: number };
  'state.changed': { readonly from: LoopState; readonly to: LoopState };
  /** What is about to be sent; a replacement goes to the model, not into the transcript. */
  'model.before': { readonly turns: readonly Turn[]; readonly tools: readonly ToolOffer[] };
  'model.after': { readonly reply: AssistantTurn };
  'tool.before': { readonly call: ToolCall };
  /** The whole outcome, before it is capped. */
  'tool.after': { readonly call: ToolCall; readonly outcome: ToolOutcome };
  'compact.before': { readonly turns: readonly Turn[] };
  'compact.after': { readonly turns: readonly Turn[] };
  'submit.before': { readonly result: TaskResultPayload };
}
export type HookPoint = keyof HookPoints;

/** Points where a refusal means something: the call is not run, nothing is compacted, the result is not taken. */
export type RefusablePoint = 'tool.before' | 'compact.before' | 'submit.before';

/** Nothing, a replacement of what was seen, or (where it means something) a refusal with a reason that the model reads. */
export type HookAnswer<P extends HookPoint> =
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing
  void | { readonly replace: HookPoints[P] } | (P extends RefusablePoint ? { readonly refuse: string } : never);

/** A function before or after something; `name` is its file's name. Runs 30 s at most; a throw is reported, never fatal. */
export interface Hook {
  readonly name: string;
  readonly at: {
    readonly [P in HookPoint]?: (seen: HookPoints[P], signal: AbortSignal) => HookAnswer<P> | Promise<HookAnswer<P>>;
  };
}
