import { v4 as uuid } from 'uuid';
import type { ChatBody } from '../chat-body.ts';
import type { Reply } from '../reply.ts';
import { hasCalls } from './shape-messages.ts';

/** The reply with a new id for each call whose id the history has already: some servers count from the start in each reply. */
export function withFreshIds(reply: Reply, messages: ChatBody['messages']): Reply {
  if (reply.calls.length === 0) return reply;
  const used = new Set(
    messages.flatMap((message) => (hasCalls(message) ? message.tool_calls.map(({ id }) => id) : [])),
  );
  if (!reply.calls.some(({ id }) => used.has(id))) return reply;
  const calls = reply.calls.map((call) =>
    used.has(call.id) ? { ...call, id: `call_${uuid().replaceAll('-', '').slice(0, 24)}` } : call,
  );
  return { ...reply, calls };
}
