import type { ModelDelta } from '../../core/model.ts';
import type { FinishReason, Usage } from '../../protocol/index.ts';
import type { Reply } from '../reply.ts';
import { isObject, UpstreamError } from '../upstream/errors.ts';
import { CallAssembler } from './call-assembler.ts';
import { ThinkSplitter } from './think-splitter.ts';
import { toUsage } from './usage.ts';

export interface AssemblerOptions {
  /** Names of the tools that the request offered. */
  readonly offered: ReadonlySet<string>;
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** Whether a leading `<think>` block in the content is thinking. Default true. */
  readonly thinkTags?: boolean;
}

/** Folds the chunks of one completion into a {@link Reply}. Never repairs a call by guess. */
export class DeltaAssembler {
  readonly #options: AssemblerOptions;
  #content: string[] = [];
  #reasoning: string[] = [];
  #calls = new CallAssembler();
  #think = new ThinkSplitter();
  #finish = '';
  #usage: Usage | null = null;

  constructor(options: AssemblerOptions) {
    this.#options = options;
  }

  /** Takes one chunk, or one whole completion, whose `message` counts as a delta. */
  add(chunk: unknown): void {
    if (!isObject(chunk)) return;
    if (isObject(chunk.npc) && chunk.npc.restart === true) this.#restart();
    const choice = choiceOf(chunk);
    this.#usage =
      toUsage(isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined) ??
      toUsage(choice?.usage) ??
      toUsage(chunk.usage) ??
      this.#usage;
    if (!choice) return;
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#finish = choice.finish_reason;
    const delta = isObject(choice.delta) && Object.keys(choice.delta).length > 0 ? choice.delta : choice.message;
    if (isObject(delta)) this.#delta(delta);
  }

  /** The whole reply. `ended` = the stream said `[DONE]` or was a plain body. Throws when it is none. */
  finish(ended: boolean): Reply {
    const held = this.#think.end();
    this.#say('text', held.text);
    this.#say('thinking', held.thinking);
    if (this.#finish === '' && !ended) {
      throw new UpstreamError('incomplete', 'the stream ended before the reply did');
    }
    const finish = toFinish(this.#finish, () => this.#content.join('').trim());
    const { calls, nameless } = this.#calls.finish(finish, this.#options.offered);
    const [content, reasoning] = [this.#content.join(''), this.#reasoning.join('')];
    const nothing = content.trim() === '' && reasoning.trim() === '' && calls.length === 0;
    if (nothing && nameless > 0) throw new UpstreamError('incomplete', 'the reply holds a tool call without a name');
    if (nothing && finish !== 'length' && finish !== 'content_filter') {
      throw new UpstreamError('empty', 'the model answered nothing');
    }
    const stays = finish === 'length' || finish === 'content_filter';
    return {
      content,
      reasoning,
      calls,
      finish: stays ? finish : calls.length > 0 ? 'tool_calls' : 'stop',
      usage: this.#usage,
    };
  }

  /** Everything received so far, for an estimate of its tokens. */
  received(): string {
    return this.#content.join('') + this.#reasoning.join('') + this.#calls.received();
  }

  /** A gateway of ours began the reply anew; what was shown so far does not count. */
  #restart(): void {
    this.#content = [];
    this.#reasoning = [];
    this.#calls = new CallAssembler();
    this.#think = new ThinkSplitter();
    this.#finish = '';
  }

  #delta(delta: Record<string, unknown>): void {
    this.#say('thinking', reasoningIn(delta));
    const { text, thinking } = contentIn(delta);
    this.#say('thinking', thinking);
    if (text !== '') {
      const split = this.#options.thinkTags === false ? { text, thinking: '' } : this.#think.push(text);
      this.#say('thinking', split.thinking);
      this.#say('text', split.text);
    }
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    for (const call of calls) this.#calls.add(call);
    if (isObject(delta.function_call)) this.#calls.add({ index: 0, function: delta.function_call });
  }

  #say(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    (kind === 'text' ? this.#content : this.#reasoning).push(text);
    this.#options.onDelta?.({ kind, text });
  }
}

/** Only the first choice is read. */
function choiceOf(chunk: Record<string, unknown>): Record<string, unknown> | undefined {
  if (!Array.isArray(chunk.choices)) return undefined;
  return chunk.choices.find((choice) => isObject(choice) && (choice.index ?? 0) === 0);
}

/** First of the names that providers use; some send two of them with the same text. */
function reasoningIn(delta: Record<string, unknown>): string {
  for (const key of ['reasoning_content', 'reasoning', 'reasoning_text']) {
    const value = delta[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return partsOf(delta.reasoning_details, () => true);
}

function contentIn(delta: Record<string, unknown>): { text: string; thinking: string } {
  const refusal = typeof delta.refusal === 'string' ? delta.refusal : '';
  if (typeof delta.content === 'string') return { text: delta.content + refusal, thinking: '' };
  return {
    text: partsOf(delta.content, (type) => type !== 'thinking') + refusal,
    thinking: partsOf(delta.content, (type) => type === 'thinking'),
  };
}

function partsOf(parts: unknown, wanted: (type: unknown) => boolean): string {
  if (!Array.isArray(parts)) return '';
  return parts
    .filter((part) => isObject(part) && wanted(part.type))
    .map(
      ({ text, thinking }) => [text, thinking].find((one) => typeof one === 'string') ?? partsOf(thinking, () => true),
    )
    .join('');
}

function toFinish(value: string, saying: () => string): FinishReason | undefined {
  switch (value) {
    case '':
      return undefined;
    case 'length':
    case 'max_tokens':
    case 'model_length':
    case 'model_context_window_exceeded':
      return 'length';
    case 'content_filter':
    case 'safety':
    case 'sensitive':
      return 'content_filter';
    case 'error':
    case 'error_finish':
    case 'network_error':
      throw new UpstreamError('server', saying() || `the provider ended the reply with "${value}"`);
    case 'insufficient_system_resource':
      throw new UpstreamError('overloaded', 'the provider ran out of resources in the middle of the reply');
    default:
      return 'stop';
  }
}
