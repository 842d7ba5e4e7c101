import type { ChatBody } from '../chat-body.ts';
import { callIdIn } from './call-ids.ts';
import type { Dialect } from './dialect.ts';
import { isObject } from './errors.ts';

export type Message = ChatBody['messages'][number];

/** What Gemini takes for the mark of a call that it did not make itself. */
const MADE_UP_SIGNATURE = 'skip_thought_signature_validator';

/** The history as a dialect takes it. What says nothing is left out: no provider takes an assistant message without content and calls. */
export function shapeMessages(messages: readonly Message[], dialect: Dialect): Message[] {
  const loopStart = messages.findLastIndex(({ role }) => role === 'user');
  const shaped = messages.flatMap((message, at) => {
    if (message.role === 'developer') return { ...message, role: 'system' };
    if (message.role !== 'assistant') return filled(message, dialect);
    return assistantOf(message, dialect, at > loopStart);
  });
  const single = dialect.parallelCalls ? shaped : shaped.flatMap((_, at) => oneByOne(shaped, at, dialect));
  const named = single.map((message) => withIds(message, dialect.callIds));
  const ordered = dialect.afterTools === 'any' ? named : named.flatMap((_, at) => bridged(named, at));
  return dialect.system === 'kept' ? ordered : systemAsUser(ordered);
}

/** Whether a message makes calls. */
export function hasCalls(message: Message): message is Message & { tool_calls: Call[] } {
  return message.role === 'assistant' && Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
}

interface Call {
  readonly id?: string;
  readonly function?: { readonly name?: unknown };
  readonly extra_content?: unknown;
}

/** Whether a message's content is nothing that a model could read. */
export function isBlank(content: unknown): boolean {
  if (typeof content === 'string') return content.trim() === '';
  return content == null || (Array.isArray(content) && content.length === 0);
}

function assistantOf(message: Message, dialect: Dialect, inLoop: boolean): Message[] {
  const { reasoning_content, tool_calls: _, content, ...rest } = message;
  const calls = hasCalls(message) ? message.tool_calls.map((call) => callOf(call, dialect)) : [];
  if (isBlank(content) && calls.length === 0 && rest.function_call == null) return [];
  const shaped: Message = { ...rest, ...contentOf(content, dialect) };
  const reasoning = reasoningOf(reasoning_content, dialect, inLoop);
  if (reasoning !== undefined) shaped.reasoning_content = reasoning;
  if (calls.length > 0) shaped.tool_calls = calls;
  return [shaped];
}

function reasoningOf(reasoning: unknown, dialect: Dialect, inLoop: boolean): unknown {
  if (dialect.reasoning === 'all') return reasoning ?? '';
  return dialect.reasoning === 'loop' && inLoop && !isBlank(reasoning) ? reasoning : undefined;
}

function contentOf(content: unknown, { emptyContent }: Dialect): { content?: unknown } {
  if (!isBlank(content)) return { content };
  if (emptyContent === 'absent') return {};
  return { content: emptyContent === 'null' ? null : '' };
}

function filled(message: Message, { emptyContent }: Dialect): Message {
  return emptyContent === 'absent' && isBlank(message.content) ? { ...message, content: '(nothing)' } : message;
}

function callOf(call: Call, dialect: Dialect): Call {
  const { extra_content: extra, ...rest } = call;
  if (dialect.leftOut.includes('extra_content')) return rest;
  const known = isObject(extra) ? extra : undefined;
  if (known !== undefined || dialect.signatures === 'kept') return known === undefined ? rest : call;
  return { ...rest, extra_content: { google: { thought_signature: MADE_UP_SIGNATURE } } };
}

/** An assistant message of several calls as one message for each, with its result behind it. */
function oneByOne(messages: readonly Message[], at: number, dialect: Dialect): Message[] {
  const message = messages[at] as Message;
  const owner = ownerOf(messages, at);
  // results stand behind their own call
  if (message.role === 'tool') return owner && owner.tool_calls.length > 1 ? [] : [message];
  if (!hasCalls(message) || message.tool_calls.length < 2) return [message];
  const results = resultsBehind(messages, at);
  return message.tool_calls.flatMap((call, number) => {
    const { content, ...rest } = message;
    const own = results.filter((result) => result.tool_call_id === call.id);
    return [{ ...rest, ...(number === 0 ? { content } : contentOf(null, dialect)), tool_calls: [call] }, ...own];
  });
}

/** The message whose calls the tool message at `at` answers. */
function ownerOf(messages: readonly Message[], at: number) {
  let from = at;
  while (messages[from]?.role === 'tool') from -= 1;
  const owner = messages[from];
  return owner && hasCalls(owner) ? owner : undefined;
}

function resultsBehind(messages: readonly Message[], at: number): Message[] {
  const end = messages.findIndex((message, place) => place > at && message.role !== 'tool');
  return messages.slice(at + 1, end < 0 ? undefined : end);
}

function withIds(message: Message, form: Dialect['callIds']): Message {
  if (form === 'kept') return message;
  if (message.role === 'tool' && typeof message.tool_call_id === 'string') {
    return { ...message, tool_call_id: callIdIn(form, message.tool_call_id) };
  }
  if (!hasCalls(message)) return message;
  const tool_calls = message.tool_calls.map((call) => ({ ...call, id: callIdIn(form, call.id ?? '') }));
  return { ...message, tool_calls };
}

/** The message at `at`, with a short assistant message before a user's that would follow the result of a tool. */
function bridged(messages: readonly Message[], at: number): Message[] {
  const message = messages[at] as Message;
  const stands = message.role === 'user' && messages[at - 1]?.role === 'tool';
  return stands ? [{ role: 'assistant', content: 'Done.' }, message] : [message];
}

/** The system's text as the beginning of the first user message, for models whose template has no system role. */
function systemAsUser(messages: readonly Message[]): Message[] {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => ({ role: 'user', content }));
  return joinNeighbours([...system, ...messages.filter(({ role }) => role !== 'system')]);
}

/** Neighbours of one role become one message, for templates that want roles to alternate. Calls and results stay apart. */
export function joinNeighbours(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const plain = (one: Message) => (one.role === 'user' || one.role === 'assistant') && !hasCalls(one);
    if (before && before.role === message.role && plain(before) && plain(message)) {
      joined[joined.length - 1] = { ...before, content: joinContents(before.content, message.content) };
    } else joined.push(message);
  }
  return joined;
}

function joinContents(first: unknown, second: unknown): unknown {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...partsOf(first), ...partsOf(second)];
}

function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content;
  return isBlank(content) ? [] : [{ type: 'text', text: String(content) }];
}
