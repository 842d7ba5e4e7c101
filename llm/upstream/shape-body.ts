import type { ChatBody } from '../chat-body.ts';
import type { Dialect } from './dialect.ts';
import { hasCalls, shapeMessages } from './shape-messages.ts';
import { toolsAsText } from './text-tools.ts';

/** Fields that speak of tools, which a body without tools must not have. */
const toolFields = ['tools', 'tool_choice', 'parallel_tool_calls'];

/** The body as a dialect takes it: a stream that reports its usage, where either may be asked for. */
export function shapeBody(body: ChatBody, dialect: Dialect): ChatBody {
  const asked = dialect.tools === 'text' ? toolsAsText(body) : withKnownTools(body);
  const shaped: ChatBody = {
    ...asked,
    messages: shapeMessages(asked.messages, dialect),
    stream: true,
    stream_options: { ...body.stream_options, include_usage: true },
  };
  if (dialect.tools === 'text' || !shaped.tools?.length) for (const field of toolFields) delete shaped[field];
  // only the first choice is read, and each is paid
  delete shaped.n;
  setLimit(shaped, dialect);
  for (const field of dialect.leftOut) delete shaped[field];
  if (dialect.leftOut.includes('strict') && shaped.tools) shaped.tools = shaped.tools.map(withoutStrict);
  return shaped;
}

function setLimit(shaped: ChatBody, { limitField, maxOutput = Number.POSITIVE_INFINITY }: Dialect): void {
  const limit = shaped.max_completion_tokens ?? shaped.max_tokens;
  delete shaped.max_tokens;
  delete shaped.max_completion_tokens;
  if (typeof limit === 'number' && limitField !== 'none') shaped[limitField] = Math.min(limit, maxOutput);
}

/** A history with calls goes with tools: some gateways refuse one without. Where none are offered, their names say that they were there. */
function withKnownTools(body: ChatBody): ChatBody {
  if (body.tools?.length) return body;
  const { tools: _, ...rest } = body;
  const names = new Set(body.messages.flatMap((message) => (hasCalls(message) ? namesIn(message.tool_calls) : [])));
  if (names.size === 0) return rest;
  const tools = [...names].map((name) => ({
    type: 'function',
    function: { name, description: 'Not offered any more.', parameters: { type: 'object', properties: {} } },
  }));
  return { ...rest, tools, tool_choice: 'none' };
}

function namesIn(calls: readonly { function?: { name?: unknown } }[]): string[] {
  return calls.flatMap((call) => (typeof call.function?.name === 'string' ? [call.function.name] : []));
}

function withoutStrict(tool: NonNullable<ChatBody['tools']>[number]) {
  if (!tool.function) return tool;
  const { strict: _, ...rest } = tool.function;
  return { ...tool, function: rest };
}
