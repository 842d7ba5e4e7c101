import type { Reply, ReplyCall } from '../reply.ts';

/** Names one reply on the wire. */
export interface ReplyLabel {
  readonly id: string;
  readonly model: string;
  /** Seconds since epoch. */
  readonly created: number;
}

/** One streamed chunk in OpenAI's form. */
export function chunk(label: ReplyLabel, delta: object, finish: string | null = null): object {
  return { ...label, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** Tells a client of ours that the reply begins anew; any other client sees a chunk without choices. */
export function restartChunk(label: ReplyLabel): object {
  return { ...label, object: 'chat.completion.chunk', choices: [], npc: { restart: true } };
}

/** The end of a streamed reply: its calls, finish and usage. */
export function* closingChunks(reply: Reply, label: ReplyLabel): Iterable<object> {
  for (const [index, call] of toolCalls(reply).entries()) yield chunk(label, { tool_calls: [{ index, ...call }] });
  yield chunk(label, {}, reply.finish);
  if (reply.usage) yield { ...label, object: 'chat.completion.chunk', choices: [], usage: toUsage(reply) };
}

/** The whole reply in OpenAI's form, for a client that does not stream. */
export function completion(reply: Reply, label: ReplyLabel): object {
  const message = {
    role: 'assistant',
    content: reply.content === '' && reply.calls.length > 0 ? null : reply.content,
    ...(reply.reasoning === '' ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.calls.length === 0 ? {} : { tool_calls: toolCalls(reply) }),
  };
  return {
    ...label,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: reply.finish }],
    ...(reply.usage ? { usage: toUsage(reply) } : {}),
  };
}

/** The reply without calls that may not be run: a program of others might complete broken ones by guess, and run refused ones. */
export function withoutUnusable(reply: Reply): Reply {
  const calls = reply.calls.filter((call) => call.broken === undefined && call.refused === undefined);
  if (calls.length === reply.calls.length) return reply;
  const refused = reply.calls.filter((call) => call.refused !== undefined);
  const notes = refused.map((call) => `[${call.name} was not run: ${call.refused}]`);
  const content = [reply.content, ...notes].filter((part) => part !== '').join('\n\n');
  const finish = calls.length > 0 ? reply.finish : refused.length > 0 ? 'stop' : 'length';
  return { ...reply, content, calls, finish };
}

function toolCalls(reply: Reply) {
  return reply.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.raw },
    ...(call.signature === undefined ? {} : { extra_content: { google: { thought_signature: call.signature } } }),
    ...marksOf(call),
  }));
}

/** What a client of ours is told beside a call. */
function marksOf({ origin, broken, refused }: ReplyCall) {
  const marks = {
    ...(origin === 'rescued' && { origin }),
    ...(broken !== undefined && { broken }),
    ...(refused !== undefined && { refused }),
  };
  return Object.keys(marks).length === 0 ? {} : { npc: marks };
}

function toUsage({ usage }: Reply) {
  const [input, output] = [usage?.input ?? null, usage?.output ?? null];
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: (input ?? 0) + (output ?? 0),
    prompt_tokens_details: {
      cached_tokens: usage?.cached ?? 0,
      ...(usage?.written !== undefined && { cache_write_tokens: usage.written }),
    },
    completion_tokens_details: { reasoning_tokens: usage?.thinking ?? 0 },
    ...(usage?.credits !== undefined && { credits: usage.credits }),
  };
}
