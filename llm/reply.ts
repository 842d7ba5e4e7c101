import type { AssistantTurn, FinishReason, ToolCall, Usage } from '../protocol/index.ts';
import type { DroppedCall } from './rescue/block.ts';

/** A call as it came, with its arguments' text; `broken` calls are never run. */
export interface ReplyCall extends ToolCall {
  readonly raw: string;
  /** How a rescued call was written. */
  readonly format?: string;
}

/** One whole answer of a model. */
export interface Reply {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ReplyCall[];
  /** Calls that could not be used, and must be asked for again: written as text, or without a name. */
  readonly dropped: readonly DroppedCall[];
  readonly finish: FinishReason;
  readonly usage: Usage | null;
}

/** The reply as the loop and the log keep it. */
export function toTurn(reply: Reply): AssistantTurn {
  return {
    role: 'assistant',
    content: reply.content,
    ...(reply.reasoning === '' ? {} : { reasoning: reply.reasoning }),
    calls: reply.calls.map(({ raw: _raw, format: _format, ...call }) => call),
    finish: reply.finish,
    usage: reply.usage,
  };
}
