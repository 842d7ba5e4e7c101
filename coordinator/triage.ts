import { AppError } from '../base/errors.ts';
import type { Flow, FlowNode, TaskResultPayload } from '../protocol/index.ts';
import { checkFlow, parseFlow, roleOf } from './flow.ts';

/** What the architect's first turn decided. */
export type Triage =
  | { readonly kind: 'answer'; readonly text: string }
  /** A review is asked for, and no change. */
  | { readonly kind: 'review' }
  /** Work is to be done; `flow` is the text of a flow that the architect proposes. */
  | { readonly kind: 'plan'; readonly flow?: string }
  /** It cannot be planned; only the user can say more. */
  | { readonly kind: 'unclear'; readonly message: string };

/** Reads the architect's result; its prompt names these artifacts. */
export function readTriage(result: TaskResultPayload): Triage {
  const artifact = (title: string): string | undefined => result.artifacts.find((entry) => entry.title === title)?.text;
  const answer = artifact('answer');
  if (answer !== undefined) return { kind: 'answer', text: answer };
  if (result.status === 'failed') return { kind: 'unclear', message: result.issues[0]?.message ?? result.summary };
  if (artifact('route')?.trim() === 'review') return { kind: 'review' };
  const flow = artifact('flow');
  return { kind: 'plan', ...(flow !== undefined && { flow }) };
}

/** The plan review: the architect's flow behind its own node, or the sentence that says why it cannot be taken. */
export function reviewProposedFlow(
  architect: FlowNode,
  text: string,
  knownRoles: readonly string[],
): { readonly flow: Flow } | { readonly refused: string } {
  try {
    const rest = parseFlow(text, 'the proposed flow').filter((node) => roleOf(node) !== 'architect');
    const followed = new Set(rest.flatMap((node) => [node.next ?? []].flat()));
    const first = rest.filter((node) => !followed.has(node.id)).map((node) => node.id);
    const flow = [{ ...architect, next: first }, ...rest];
    checkFlow(flow, knownRoles, 'the proposed flow');
    return { flow };
  } catch (error) {
    if (error instanceof AppError) return { refused: error.message };
    throw error;
  }
}
