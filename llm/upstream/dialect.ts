import type { ChatBody } from '../chat-body.ts';
import type { UpstreamError } from './errors.ts';

/** What a request may hold that not every provider accepts. Learned per endpoint and model from its refusals. */
interface Dialect {
  reasoningContent: 'tool-loop' | 'never';
  emptyContent: null | '';
  maxTokens: 'max_tokens' | 'max_completion_tokens';
  readonly refused: Set<string>;
}

const droppable = ['stream_options', 'parallel_tool_calls', 'store', 'reasoning_effort'];

/** Shapes bodies for one endpoint, and learns from a 400 that names a field. */
export class Dialects {
  readonly #byModel = new Map<string, Dialect>();

  /** The body as this model takes it; always a stream that reports its usage. */
  shape(body: ChatBody): ChatBody {
    const dialect = this.#of(body.model);
    const shaped: ChatBody = { ...body, stream: true, stream_options: { include_usage: true } };
    for (const field of dialect.refused) delete shaped[field];
    const limit = body.max_completion_tokens ?? body.max_tokens;
    if (limit != null) {
      delete shaped.max_tokens;
      delete shaped.max_completion_tokens;
      shaped[dialect.maxTokens] = limit;
    }
    const loopStart = body.messages.findLastIndex((message) => message.role === 'user');
    shaped.messages = body.messages.flatMap((message, at) => {
      if (message.role !== 'assistant') return message;
      // a turn that was all thinking; providers refuse a message without content and calls
      if (!message.content && !message.tool_calls) return [];
      const { reasoning_content, ...rest } = message;
      const send = reasoning_content !== undefined && dialect.reasoningContent === 'tool-loop' && at > loopStart;
      const content = rest.content == null || rest.content === '' ? dialect.emptyContent : rest.content;
      return { ...rest, content, ...(send ? { reasoning_content } : {}) };
    });
    return shaped;
  }

  /** Whether the refusal taught something, so that the same request is worth one more try at once. */
  learn(body: ChatBody, error: UpstreamError): boolean {
    if (error.kind !== 'bad_request') return false;
    const dialect = this.#of(body.model);
    const names = (field: string) => error.message.includes(field);
    if (names('reasoning_content') && dialect.reasoningContent === 'tool-loop') {
      dialect.reasoningContent = 'never';
      return true;
    }
    if (names('max_tokens') && names('max_completion_tokens') && dialect.maxTokens === 'max_tokens') {
      dialect.maxTokens = 'max_completion_tokens';
      return true;
    }
    const field = droppable.find((name) => names(name) && !dialect.refused.has(name));
    if (field !== undefined) {
      dialect.refused.add(field);
      return true;
    }
    if (/content/i.test(error.message) && /null|string|empty/i.test(error.message) && dialect.emptyContent === null) {
      dialect.emptyContent = '';
      return true;
    }
    return false;
  }

  #of(model: string): Dialect {
    let dialect = this.#byModel.get(model);
    if (!dialect) {
      dialect = { reasoningContent: 'tool-loop', emptyContent: null, maxTokens: 'max_tokens', refused: new Set() };
      this.#byModel.set(model, dialect);
    }
    return dialect;
  }
}
