import type { AssistantTurn, StopReason, Turn } from '../protocol/index.ts';

/** Which of the configured models answers; the gateway knows their names. */
export type ModelChoice = 'default' | 'flash' | 'review' | 'vision';

/** A tool as a model sees it; `parameters` is a JSON Schema object. */
export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolOffer[];
  readonly choice: ModelChoice;
  /** How many replies this task has had before; lets a gateway number its steps. */
  readonly turn: number;
  readonly maxOutputTokens?: number;
}

/** What a model says while it is still speaking; only for showing, the reply is what counts. */
export type ModelDelta = { readonly kind: 'text' | 'thinking'; readonly text: string } | { readonly kind: 'alive' };

/** Why a model call failed for good, after the retries that made sense. */
export type ModelErrorKind =
  | 'quota'
  | 'rate_limit'
  | 'overloaded'
  | 'context_length'
  | 'auth'
  | 'content_filter'
  | 'bad_request'
  | 'misconfigured'
  | 'server'
  | 'incomplete'
  | 'empty'
  | 'bad_event'
  | 'not_sse'
  | 'timeout'
  | 'stalled'
  | 'budget'
  | 'cancelled';

/** The one error a model throws. `message` is for people and says the next step. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;

  constructor(kind: ModelErrorKind, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.kind = kind;
    this.retryable = options.retryable;
  }
}

/** What a loop stops with when its model fails like this. */
export function stopReasonOf({ kind }: ModelError): StopReason {
  if (kind === 'budget' || kind === 'cancelled') return kind;
  return kind === 'context_length' ? 'context_full' : 'model_error';
}

/** A model that can be asked; the only thing `core` knows about providers. Throws {@link ModelError} or the signal's reason. */
export interface Model {
  reply(request: ModelRequest, signal: AbortSignal, onDelta?: (delta: ModelDelta) => void): Promise<AssistantTurn>;
}
