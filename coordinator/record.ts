import type { PlanItem } from '../core/host.ts';
import type {
  BudgetLimits,
  Cause,
  Envelope,
  Flow,
  GateRun,
  Issue,
  RunEvent,
  SpentLine,
  TaskResultPayload,
  Verdict,
} from '../protocol/index.ts';
import { addSpent, LoopEvent, RunEvent as RunEventSchema } from '../protocol/index.ts';

/** An effect outside the program: meant, and later known to be done. */
export interface EffectRecord {
  readonly kind: string;
  readonly digest: string;
  readonly done: boolean;
  readonly result?: unknown;
}

export interface CommitRecord {
  readonly taskId: string;
  readonly node: string;
  readonly sha: string;
  readonly files: readonly string[];
  readonly leftOut: readonly string[];
}

/** A command that the run checks with; `guessed` when it was detected and not configured. */
export interface ChosenCommand {
  readonly kind: GateRun['kind'];
  readonly command: string;
  readonly guessed: boolean;
}

/** Where the delivered work lies. */
export interface Delivered {
  readonly branch?: string | undefined;
  readonly branchUrl?: string | undefined;
  readonly sha?: string | undefined;
  readonly pullNumber?: string | undefined;
  readonly pullUrl?: string | undefined;
  /** The work-in-progress branch, when it is still there. */
  readonly wip?: string | undefined;
}

export interface ChildRecord {
  readonly name: string;
  readonly role: string;
  readonly pid: number;
  readonly startTime: string;
}

export interface VerdictRecord {
  readonly verdict: Verdict | null;
  readonly cause: Cause | null;
  readonly message: string;
  readonly nextStep: string;
  readonly rerunHelps: boolean;
}

export interface ReviewRecord {
  readonly round: number;
  readonly verdict: string;
  readonly missing: readonly string[];
  readonly cites: readonly string[];
}

/** What is known of a run: the fold of its frames and nothing else. */
export interface RunRecord {
  starts: number;
  startedAt?: number;
  step: string;
  flow?: Flow;
  flowSource?: 'default' | 'file' | 'model';
  limits: { cause: Cause; message: string; cure: string }[];
  commands: readonly ChosenCommand[];
  answer?: string;
  answerKind?: 'answer' | 'review';
  /** Files of the judged commit that differ from the base, once they were measured. */
  changed?: readonly string[];
  delivered: Delivered;
  readonly effects: Map<string, EffectRecord>;
  readonly results: Map<string, TaskResultPayload>;
  readonly commits: CommitRecord[];
  /** Returns so far, by the node that gets the work back. */
  readonly returns: Map<string, { count: number; by: string; issues: readonly Issue[] }>;
  readonly gates: GateRun[];
  readonly reviews: ReviewRecord[];
  /** The plan that a role wrote down last. */
  plan?: { readonly by: string; readonly items: readonly PlanItem[] };
  /** Ends of other coding programs that played a role. */
  readonly programs: { readonly by: string; readonly exit: number | null }[];
  readonly notes: { body: string; by: string }[];
  readonly inline: { body: string; path: string; line: number }[];
  readonly mentions: { commentId: string; author: string; body: string }[];
  readonly children: Map<number, ChildRecord>;
  readonly damaged: { path: string; setAside: string }[];
  /** What models were used for, by role and model. */
  usage: readonly SpentLine[];
  /** What the run may use. */
  budget: BudgetLimits;
  /** Tool calls that really happened, by role name of the agent. */
  readonly toolCalls: Map<string, { native: number; rescued: number; failed: number }>;
  verdict?: VerdictRecord;
  finished: boolean;
}

export function emptyRecord(): RunRecord {
  return {
    starts: 0,
    step: '',
    limits: [],
    commands: [],
    delivered: {},
    effects: new Map(),
    results: new Map(),
    commits: [],
    returns: new Map(),
    gates: [],
    reviews: [],
    programs: [],
    notes: [],
    inline: [],
    mentions: [],
    children: new Map(),
    damaged: [],
    usage: [],
    budget: {},
    toolCalls: new Map(),
    finished: false,
  };
}

/** The result of an effect that is known to be done. */
export function doneEffect<T>(record: RunRecord, key: string): T | undefined {
  const effect = record.effects.get(key);
  return effect?.done ? (effect.result as T) : undefined;
}

/**
 * Adds one logged frame to the record. A run's own events count only from the `trusted` names (coordinator, gateway): whatever an
 * agent claims in an event of its own is a hint at most. Frames of other kinds change nothing.
 */
export function foldFrame(record: RunRecord, frame: Envelope, trusted: readonly string[]): void {
  if (frame.type !== 'task.event') return;
  const { event } = frame.payload as { event?: unknown };
  const looped = LoopEvent.safeParse(event);
  if (looped.success) {
    foldLoopEvent(record, looped.data, frame.from);
    return;
  }
  if (!trusted.includes(frame.from)) return;
  const parsed = RunEventSchema.safeParse(event);
  if (parsed.success) foldRunEvent(record, parsed.data, frame);
}

/** What a role did: its tool calls are counted, its comments kept as its own words. */
function foldLoopEvent(record: RunRecord, event: LoopEvent, agent: string): void {
  if (event.type === 'tool.finished') countToolCall(record, agent, event);
  if (event.type === 'program.ended') record.programs.push({ by: agent, exit: event.exit });
  if (event.type === 'plan.changed') record.plan = { by: agent, items: event.items };
  if (event.type !== 'comment.asked') return;
  const { kind, body, path, line } = event;
  if (kind === 'inline' && path !== undefined && line !== undefined) record.inline.push({ body, path, line });
  else record.notes.push({ body, by: agent });
}

function countToolCall(
  record: RunRecord,
  agent: string,
  event: { readonly origin: string; readonly ok: boolean },
): void {
  const role = roleOfAgent(agent);
  const counts = record.toolCalls.get(role) ?? { native: 0, rescued: 0, failed: 0 };
  if (event.origin === 'rescued') counts.rescued += 1;
  else counts.native += 1;
  if (!event.ok) counts.failed += 1;
  record.toolCalls.set(role, counts);
}

/** `coder-1` plays `coder`. */
export function roleOfAgent(name: string): string {
  return name.replace(/-\d+$/, '');
}

function foldRunEvent(record: RunRecord, event: RunEvent, frame: Envelope): void {
  switch (event.type) {
    case 'run.started':
      record.starts += 1;
      record.startedAt ??= frame.ts ?? 0;
      return;
    case 'step.entered':
      record.step = event.step;
      return;
    case 'preflight.finished':
      record.limits = event.limits;
      return;
    case 'commands.chosen':
      record.commands = event.commands;
      return;
    case 'work.answered':
      record.answer = event.text;
      record.answerKind = event.kind;
      return;
    case 'change.measured':
      record.changed = event.files;
      return;
    case 'work.delivered':
      record.delivered = {
        branch: event.branch,
        branchUrl: event.branch_url,
        sha: event.sha,
        pullNumber: event.pull_number,
        pullUrl: event.pull_url,
        wip: event.wip,
      };
      return;
    case 'flow.planned':
      record.flow = event.flow;
      record.flowSource = event.source;
      return;
    case 'agent.spawned':
      record.children.set(event.pid, {
        name: event.name,
        role: event.role,
        pid: event.pid,
        startTime: event.start_time,
      });
      return;
    case 'agent.exited':
      record.children.delete(event.pid);
      return;
    case 'effect.intended':
      record.effects.set(event.key, { kind: event.kind, digest: event.digest, done: false });
      return;
    case 'effect.done': {
      const intended = record.effects.get(event.key);
      record.effects.set(event.key, {
        kind: intended?.kind ?? '',
        digest: intended?.digest ?? '',
        done: true,
        result: event.result,
      });
      return;
    }
    case 'task.distilled':
      record.results.set(frame.task_id, event.result);
      return;
    case 'task.committed':
      record.commits.push({
        taskId: frame.task_id,
        node: event.node,
        sha: event.sha,
        files: event.files,
        leftOut: event.left_out,
      });
      return;
    case 'work.returned':
      record.returns.set(event.node, { count: event.count, by: event.by, issues: event.issues });
      return;
    case 'gate.finished':
      record.gates.push(event.gate);
      return;
    case 'review.finished':
      record.reviews.push({ round: event.round, verdict: event.verdict, missing: event.missing, cites: event.cites });
      return;
    case 'comment.noted':
      record.notes.push({ body: event.body, by: event.by });
      return;
    case 'mention.listed':
      record.mentions.push({ commentId: event.comment_id, author: event.author, body: event.body });
      return;
    case 'state.damaged':
      record.damaged.push({ path: event.path, setAside: event.set_aside });
      return;
    case 'usage.recorded':
      record.usage = addSpent(record.usage, event);
      return;
    case 'budget.set':
      record.budget = event;
      return;
    case 'verdict.reached':
      record.verdict = {
        verdict: event.verdict,
        cause: event.cause,
        message: event.message,
        nextStep: event.next_step,
        rerunHelps: event.rerun_helps,
      };
      return;
    case 'run.finished':
      record.finished = true;
      return;
    default:
      event satisfies never;
  }
}
