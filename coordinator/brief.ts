import type { Artifact, FlowNode, Issue, TaskPayload, TaskResultPayload } from '../protocol/index.ts';
import { MAX_INLINE_TEXT } from '../protocol/index.ts';
import type { RunContext } from './context.ts';
import { roleOf } from './flow.ts';

/** Everything a node's task is made from. */
export interface BriefParts {
  readonly node: FlowNode;
  readonly request: string;
  readonly context: RunContext;
  /** Distilled results of the nodes before it, oldest first. */
  readonly before: readonly { readonly node: string; readonly role: string; readonly result: TaskResultPayload }[];
  /** Why the work came back, word for word; empty on a first go. */
  readonly objections: readonly Issue[];
  /** The change so far, for those who judge it. */
  readonly diff: string;
  readonly gateReport: string;
  readonly tree: string;
  readonly baseSha: string;
}

/** Roles that judge a commit and whose trees are thrown away. Every other role writes. */
const READERS: readonly string[] = ['architect', 'reviewer', 'verifier'];

export function writes(node: FlowNode): boolean {
  return !READERS.includes(roleOf(node));
}

/** What one node is asked to do: the request first, then what is known, each under its own title. */
export function writeBrief(parts: BriefParts): TaskPayload {
  const { node, context } = parts;
  const artifacts: Artifact[] = [...context.artifacts];
  for (const { node: id, role, result } of parts.before) artifacts.push(...handedOn(id, role, result));
  if (!writes(node) && parts.diff !== '')
    artifacts.push({ kind: 'diff', title: 'the change to judge', text: parts.diff.slice(0, MAX_INLINE_TEXT) });
  if (parts.gateReport !== '')
    artifacts.push({
      kind: 'report',
      title: 'commands that the coordinator ran on this change',
      text: parts.gateReport.slice(0, MAX_INLINE_TEXT),
    });
  if (parts.objections.length > 0)
    artifacts.push({
      kind: 'report',
      title: 'why this work came back; settle every point',
      text: objectionText(parts.objections),
    });
  const own = typeof node.payload.goal === 'string' ? `\n\nYour part: ${node.payload.goal}` : '';
  return {
    goal: `${parts.request}${own}`,
    artifacts: artifacts.slice(0, 60),
    constraints: [...context.constraints, ...(node.payload.constraints ?? [])],
    options: {
      tree: parts.tree,
      base_sha: parts.baseSha,
      attempt_timeout_ms: node.timeout_ms ?? (roleOf(node) === 'coder' ? 3_600_000 : 1_800_000),
    },
  };
}

function handedOn(id: string, role: string, result: TaskResultPayload): Artifact[] {
  const summary: Artifact[] =
    result.summary === '' ? [] : [{ kind: 'text', title: `${role} (${id}): summary`, text: result.summary }];
  const artifacts = result.artifacts.map((artifact) => ({
    ...artifact,
    title: `${role} (${id}): ${artifact.title}`.slice(0, 300),
  }));
  return [...summary, ...artifacts];
}

function objectionText(issues: readonly Issue[]): string {
  return issues
    .map((issue, index) => {
      const place = issue.path ? ` at ${issue.path}${issue.line ? `:${issue.line}` : ''}` : '';
      const evidence = issue.evidence ? `\nEvidence: ${issue.evidence}` : '';
      return `${index + 1}. [${issue.severity}]${place} ${issue.message}${evidence}`;
    })
    .join('\n\n');
}
