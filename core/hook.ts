import type { AssistantTurn, LoopState, TaskResultPayload, ToolCall, Turn } from '../protocol/index.ts';
import type { ToolOutcome } from './tool.ts';

/** Where a hook can stand, and what it sees there. The value may be replaced where a replacement makes sense. */
export interface HookPoints {
  'cycle.started': { readonly step: number };
  'cycle.ended': { readonly step: number };
  'state.changed': { readonly from: LoopState; readonly to: LoopState };
  'model.before': { readonly turns: readonly Turn[] };
  'model.after': { readonly reply: AssistantTurn };
  'tool.before': { readonly call: ToolCall };
  'tool.after': { readonly call: ToolCall; readonly outcome: ToolOutcome };
  'compact.before': { readonly turns: readonly Turn[] };
  'compact.after': { readonly turns: readonly Turn[] };
  'submit.before': { readonly result: TaskResultPayload };
}
export type HookPoint = keyof HookPoints;

/** Nothing, a replacement of what was seen, or a refusal with a reason that the model reads. */
export type HookAnswer<P extends HookPoint> =
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing
  void | { readonly replace: HookPoints[P] } | { readonly refuse: string };

/** A function before or after something; `name` is its file's name. Runs 30 s at most; a throw is reported, never fatal. */
export interface Hook {
  readonly name: string;
  readonly at: {
    readonly [P in HookPoint]?: (seen: HookPoints[P], signal: AbortSignal) => HookAnswer<P> | Promise<HookAnswer<P>>;
  };
}
