import { readFileSync } from 'node:fs';
import type { ChatBody } from '../chat-body.ts';
import { hasCalls, isBlank, joinNeighbours, type Message } from './shape-messages.ts';

let page: string | undefined;

/**
 * The body for a gateway that knows no tools: the tool list and the form of a call stand in the system message, calls and results of
 * the history are text, and roles alternate. The model's calls then come as text and are read from it.
 */
export function toolsAsText(body: ChatBody): ChatBody {
  const names = new Map<unknown, string>();
  const messages = body.messages.map((message) => asText(message, names));
  const prompt = promptOf(body);
  const first = messages[0];
  const opened =
    prompt === ''
      ? messages
      : first?.role === 'system'
        ? [{ ...first, content: `${textOf(first.content)}\n\n${prompt}` }, ...messages.slice(1)]
        : [{ role: 'system', content: prompt }, ...messages];
  return { ...body, messages: joinNeighbours(opened) };
}

function promptOf({ tools, tool_choice: choice }: ChatBody): string {
  if (!tools?.length || choice === 'none') return '';
  page ??= readFileSync(new URL('./text-tools.md', import.meta.url), 'utf8');
  const list = tools.map((tool) => describe(tool.function ?? {})).join('\n\n');
  const must = choice === 'required' || typeof choice === 'object' ? '\n\nYour next answer must call a tool.' : '';
  // a function, since a description may hold what a replacement pattern would read
  return page.trim().replace('{tools}', () => list) + must;
}

function describe(tool: { name?: unknown; description?: unknown; parameters?: unknown }): string {
  const lines = [`## ${tool.name}`];
  if (typeof tool.description === 'string' && tool.description !== '') lines.push('', tool.description);
  if (tool.parameters !== undefined) lines.push('', `Arguments, as a JSON schema: ${JSON.stringify(tool.parameters)}`);
  return lines.join('\n');
}

/** `names` remembers which call an id belongs to. */
function asText(message: Message, names: Map<unknown, string>): Message {
  if (message.role === 'tool') {
    const name = names.get(message.tool_call_id);
    const opener = name === undefined ? '<tool_response>' : `<tool_response name="${name}">`;
    return { role: 'user', content: `${opener}\n${textOf(message.content)}\n</tool_response>` };
  }
  if (!hasCalls(message)) return message;
  const { tool_calls, content, ...rest } = message;
  const blocks = tool_calls.map((call) => {
    const { name, arguments: input } = (call.function ?? {}) as { name?: unknown; arguments?: unknown };
    names.set(call.id, String(name));
    const json = typeof input === 'string' && input.trim() !== '' ? input : '{}';
    return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${json}}\n</tool_call>`;
  });
  return { ...rest, content: [...(isBlank(content) ? [] : [textOf(content)]), ...blocks].join('\n') };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('');
}
