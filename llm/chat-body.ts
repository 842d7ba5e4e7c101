import { z } from 'zod';
import type { ModelChoice, ModelRequest } from '../core/model.ts';
import type { Turn } from '../protocol/index.ts';
import { parameterTypes } from './rescue/schema-types.ts';
import type { ParameterTypes } from './rescue/tools.ts';

/** A chat-completions request as it comes in and goes out; what is not named here is passed on untouched. */
export const ChatBody = z.looseObject({
  model: z.string().default('default'),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })).nullish(),
});
export type ChatBody = z.infer<typeof ChatBody>;

/** A role's request as a chat-completions body; `model` is the choice, which the gateway resolves. */
export function toChatBody(request: ModelRequest): ChatBody {
  return {
    model: request.choice,
    messages: request.turns.map(toMessage),
    stream: true,
    ...(request.tools.length === 0
      ? {}
      : { tools: request.tools.map((tool) => ({ type: 'function', function: { ...tool } })) }),
    ...(request.maxOutputTokens === undefined ? {} : { max_tokens: request.maxOutputTokens }),
  };
}

/** Which of the configured models a body's `model` means; any other name is the default one. */
export function choiceOf(model: string): ModelChoice {
  return model === 'flash' || model === 'review' || model === 'vision' ? model : 'default';
}

/** Names of the tools a body offers. */
export function offeredBy(body: ChatBody): ReadonlySet<string> {
  return new Set((body.tools ?? []).flatMap((tool) => tool.function?.name ?? []));
}

/** Types of the parameters of the tools that a body offers. */
export function typesBy(body: ChatBody): ParameterTypes {
  return Object.fromEntries(
    (body.tools ?? []).flatMap(({ function: tool }) => (tool ? [[tool.name, parameterTypes(tool.parameters)]] : [])),
  );
}

/** The texts of a body, for an estimate of its tokens; pictures are left out. */
export function* textsOf(body: ChatBody): Iterable<string> {
  for (const message of body.messages) {
    const parts = Array.isArray(message.content) ? message.content : [message.content, message.tool_calls];
    for (const part of parts) {
      if (typeof part === 'string') yield part;
      else if (part?.type !== 'image_url') yield JSON.stringify(part ?? '');
    }
  }
  if (body.tools) yield JSON.stringify(body.tools);
}

function toMessage(turn: Turn): ChatBody['messages'][number] {
  switch (turn.role) {
    case 'system':
    case 'user':
      return { role: turn.role, content: turn.content };
    case 'tool':
      return { role: 'tool', tool_call_id: turn.call_id, content: turn.content };
    case 'assistant':
      return {
        role: 'assistant',
        content: turn.content === '' && turn.calls.length > 0 ? null : turn.content,
        ...(turn.reasoning === undefined ? {} : { reasoning_content: turn.reasoning }),
        ...(turn.calls.length === 0 ? {} : { tool_calls: turn.calls.map(toToolCall) }),
      };
    default:
      return turn satisfies never;
  }
}

function toToolCall(call: Extract<Turn, { role: 'assistant' }>['calls'][number]) {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.input) },
    ...(call.signature === undefined ? {} : { extra_content: { google: { thought_signature: call.signature } } }),
  };
}
