import type { BudgetLine } from '../../protocol/index.ts';
import { type ChatBody, offeredBy } from '../chat-body.ts';
import type { Reply } from '../reply.ts';
import { lineText, percentOf } from './budget.ts';

/** Tools to end a task with, in our names and in those of other programs; `-`, `_` and case do not matter. */
const wrapUpTools = new Set([
  ...['submitresult', 'comment', 'plan'],
  ...['updateplan', 'todowrite', 'attemptcompletion', 'finish', 'finalanswer'],
]);

/** The last message with what the model is told of its budget behind it. */
export function withNote(body: ChatBody, level: 'converge' | 'wrap_up', line: BudgetLine): ChatBody {
  const used = `${percentOf(line)} % of the budget is used (${lineText(line)})`;
  const note =
    level === 'converge'
      ? `[${used}. Begin nothing new: finish what you are at, check it, hand in.]`
      : `[${used}. Hand in now what you have, and say what is open.]`;
  const last = body.messages.at(-1);
  // not a message of its own: some providers take no user message behind a tool's
  if (last && typeof last.content === 'string' && (last.role === 'user' || last.role === 'tool')) {
    return { ...body, messages: body.messages.with(-1, { ...last, content: `${last.content}\n\n${note}` }) };
  }
  return { ...body, messages: [...body.messages, { role: 'user', content: note }] };
}

/** The body with wrap-up tools alone, or with none. */
export function withWrapUpTools(body: ChatBody): { body: ChatBody; allowed: ReadonlySet<string> } {
  const tools = (body.tools ?? []).filter((tool) => isWrapUp(tool.function?.name ?? ''));
  // a choice that was made among all tools may name one that is gone
  const { tool_choice: _, tools: __, ...rest } = body;
  const left: ChatBody = tools.length === 0 ? rest : { ...rest, tools };
  return { body: left, allowed: offeredBy(left) };
}

/** The reply with calls of other tools marked as not to be run. */
export function refuseOthers(reply: Reply, allowed: ReadonlySet<string>, line: BudgetLine): Reply {
  const left = allowed.size === 0 ? 'no tool is left' : `only these tools are left: ${[...allowed].join(', ')}`;
  const refused = `${percentOf(line)} % of the budget is used (${lineText(line)}); ${left}. Hand in what you have.`;
  return { ...reply, calls: reply.calls.map((call) => (allowed.has(call.name) ? call : { ...call, refused })) };
}

function isWrapUp(name: string): boolean {
  return wrapUpTools.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}
