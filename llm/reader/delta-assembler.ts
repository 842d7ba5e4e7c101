import type { ModelDelta } from '../../core/model.ts';
import type { FinishReason, Usage } from '../../protocol/index.ts';
import type { Reply, ReplyCall } from '../reply.ts';
import type { DroppedCall } from '../rescue/block.ts';
import { Rescue, type RescuedCall, type Shown } from '../rescue/rescue.ts';
import type { ParameterTypes } from '../rescue/tools.ts';
import { isObject, UpstreamError } from '../upstream/errors.ts';
import { CallAssembler } from './call-assembler.ts';
import { toUsage } from './usage.ts';

export interface AssemblerOptions {
  /** Names of the tools that the request offered. */
  readonly offered: ReadonlySet<string>;
  /** Types of their parameters, for calls that come as text. */
  readonly types?: ParameterTypes;
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** The other side is a gateway of ours, which has taken thinking and calls out of the text: it is passed on as it is. */
  readonly ours?: boolean;
}

/** Folds the chunks of one completion into a {@link Reply}. Never repairs a call by guess. */
export class DeltaAssembler {
  readonly #options: AssemblerOptions;
  #content: string[] = [];
  #reasoning: string[] = [];
  #raw: string[] = [];
  #calls: CallAssembler;
  #rescue: Rescue | undefined;
  #lost = false;
  #finish = '';
  /** Chunks that said how the reply finished, those before with something in them, and whether more came after. */
  #finishes = 0;
  #open = 0;
  #after = false;
  #usage: Usage | null = null;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#calls = new CallAssembler(options);
    this.#rescue = this.#newRescue();
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
    const finish = typeof choice.finish_reason === 'string' ? choice.finish_reason : '';
    const delta = isObject(choice.delta) && Object.keys(choice.delta).length > 0 ? choice.delta : choice.message;
    this.#count(finish !== '', isObject(delta) && saysSomething(delta));
    if (finish !== '') this.#finish = finish;
    if (isObject(delta)) this.#delta(delta);
  }

  /**
   * Whether the reply looks finished: one chunk said so, behind others that did not, and nothing but usage came after it. Some say it
   * with every chunk, which tells nothing.
   */
  get finished(): boolean {
    return this.#finishes === 1 && this.#open > 0 && !this.#after;
  }

  /** The whole reply. `ended` = the stream said `[DONE]` or was a plain body. Throws when it is none. */
  finish(ended: boolean): Reply {
    if (this.#finish === '' && !ended) {
      throw new UpstreamError('incomplete', 'the stream ended before the reply did');
    }
    const finish = toFinish(this.#finish, () => this.#saying());
    const { calls: structured, nameless } = this.#calls.finish(finish);
    const rest = this.#rescue?.finish(structured, nameless);
    this.#rescue = undefined;
    if (rest) this.#show(rest);
    const calls = [...structured, ...(rest?.calls ?? []).map(toReplyCall)];
    const dropped = [...Array.from({ length: nameless }, () => withoutName), ...(rest?.dropped ?? [])];
    const [content, reasoning] = [this.#content.join(''), this.#reasoning.join('')];
    const nothing = `${content}${reasoning}`.trim() === '' && calls.length === 0 && dropped.length === 0;
    const stays = finish === 'length' || finish === 'content_filter';
    if (nothing && !stays) throw new UpstreamError('empty', 'the model answered nothing');
    return {
      content,
      reasoning,
      calls,
      dropped,
      finish: stays ? finish : calls.length > 0 ? 'tool_calls' : 'stop',
      usage: this.#usage,
    };
  }

  /** The reply failed: text that was held back is shown, and no call in it counts. */
  fail(): void {
    const { calls, nameless } = this.#calls.finish('stop');
    const rest = this.#rescue?.finish(calls, nameless);
    this.#rescue = undefined;
    if (rest) this.#show(rest);
    this.#lost ||= calls.length + nameless > 0 || (rest !== undefined && rest.calls.length + rest.dropped.length > 0);
  }

  /** Whether the reply failed and held calls. */
  get lostCalls(): boolean {
    return this.#lost;
  }

  /** Everything received so far, for an estimate of its tokens. */
  received(): string {
    return this.#raw.join('') + this.#calls.received();
  }

  /** A gateway of ours began the reply anew; what was shown so far does not count. */
  #restart(): void {
    this.#content = [];
    this.#reasoning = [];
    this.#raw = [];
    this.#calls = new CallAssembler(this.#options);
    this.#rescue = this.#newRescue();
    this.#finish = '';
    this.#finishes = 0;
    this.#open = 0;
    this.#after = false;
  }

  #count(finishes: boolean, says: boolean): void {
    if (this.#finishes > 0 && says) this.#after = true;
    if (finishes) this.#finishes += 1;
    else if (says) this.#open += 1;
  }

  #newRescue(): Rescue | undefined {
    const { ours, offered, types } = this.#options;
    return ours ? undefined : new Rescue({ offered, ...(types && { types }) });
  }

  #delta(delta: Record<string, unknown>): void {
    const { text, thinking } = contentIn(delta);
    this.#hear('thinking', reasoningIn(delta));
    this.#hear('thinking', thinking);
    this.#hear('text', text);
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    for (const call of calls) this.#calls.add(call);
    if (isObject(delta.function_call)) this.#calls.add({ index: 0, function: delta.function_call });
  }

  /** Takes what came and shows of it what may be shown. */
  #hear(kind: 'text' | 'thinking', piece: string): void {
    if (piece === '') return;
    this.#raw.push(piece);
    if (this.#rescue) this.#show(this.#rescue[kind](piece));
    else this.#say(kind, piece);
  }

  #show({ text, thinking }: Shown): void {
    this.#say('thinking', thinking);
    this.#say('text', text);
  }

  #say(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    (kind === 'text' ? this.#content : this.#reasoning).push(text);
    this.#options.onDelta?.({ kind, text });
  }

  /** The text so far, for an error that stands in it. */
  #saying(): string {
    this.fail();
    return this.#content.join('').trim();
  }
}

/** Whether a delta holds a part of the reply. */
function saysSomething({ role: _, ...parts }: Record<string, unknown>): boolean {
  return Object.values(parts).some(
    (part) => part != null && part !== '' && !(Array.isArray(part) && part.length === 0),
  );
}

/** A structured call that names no tool: nobody can tell what was meant. */
const withoutName: DroppedCall = { format: 'structured', reason: 'nameless' };

function toReplyCall({ id, name, input, format }: RescuedCall): ReplyCall {
  return { id, name, input: { ...input }, raw: JSON.stringify(input), origin: 'rescued', format };
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
