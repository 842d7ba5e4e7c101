import type { TextBounds } from '../base/cap-text.ts';
import type { Clock } from '../base/time.ts';
import type { LoopEvent, StopReason, TaskResultPayload, Turn } from '../protocol/index.ts';
import type { Hook } from './hook.ts';
import type { Model, ModelChoice, ModelDelta, ModelErrorKind } from './model.ts';
import type { Tool, ToolContext } from './tool.ts';

/** How a role works; data that stands in its folder. */
export interface LoopPolicy {
  /** The model that answers, and so the one that is paid. */
  readonly choice: ModelChoice;
  /** Replies a task may take, those of earlier attempts included. */
  readonly maxSteps: number;
  /** Asks for a plan first, which costs a reply. Default false. */
  readonly plans?: boolean;
  /** Asks for second thoughts when calls repeat, which costs a reply. Default false. */
  readonly reflects?: boolean;
  /** The role was asked a question: text is an answer, no result needs to be submitted. Default false. */
  readonly answers?: boolean;
}

/** Bounds that hardly anybody changes. */
export interface LoopLimits {
  /** Read-only calls that run at the same time. Default 3. */
  readonly parallel: number;
  /** How long a hook may take, ms. Default 30 s. */
  readonly hookMs: number;
  /** How long a model may be silent before it counts as hanging, ms. Default 3 min. */
  readonly replyBusyMs: number;
  /** The model's context, tokens. Default 128,000. */
  readonly window: number;
  /** What a model gets of a tool's text. Default 32 KiB, 1,000 lines of 2,000 characters. */
  readonly result: TextBounds;
}

/** Everything the loop touches; it has no other effect. */
export interface LoopOptions {
  /** The system turn and the first user turn. */
  readonly opening: readonly Turn[];
  /** What earlier attempts recorded. The loop goes on behind it. */
  readonly transcript?: readonly Turn[];
  readonly policy: LoopPolicy;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly hooks?: readonly Hook[];
  /** Handed to tools; its signal ends the loop too. */
  readonly context: Pick<ToolContext, 'cwd' | 'signal' | 'host' | 'env'>;
  /** Logs an event. The loop waits until it is durable before it takes the next step. */
  readonly record: (event: LoopEvent) => Promise<void>;
  /** Sees what a model says while it is still speaking. */
  readonly onDelta?: (delta: ModelDelta) => void;
  /** Takes a sign of life; `busyUntil` (ms since epoch) announces silence until then. */
  readonly alive?: ToolContext['alive'];
  readonly limits?: Partial<LoopLimits>;
  readonly clock?: Clock;
}

/** How a loop ended. */
export interface LoopOutcome {
  readonly reason: StopReason;
  /** For people: what happened, and what helps. */
  readonly message: string;
  /** Replies the task took in all. */
  readonly steps: number;
  /** What the role submitted; present when the reason is `submitted`. */
  readonly result?: TaskResultPayload;
  /** What the role wrote instead; present when the reason is `answered`. */
  readonly answer?: string;
  /** Present when the model failed. */
  readonly errorKind?: ModelErrorKind;
}
