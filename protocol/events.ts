import { z } from 'zod';
import { Issue, TaskResultPayload } from './shapes.ts';

/** A call that a model asked for. `input` is the parsed arguments; `broken` says why they could not be parsed. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** Whether the provider sent it as a call, or it was read out of text. */
  origin: z.enum(['native', 'rescued']).default('native'),
  broken: z.string().optional(),
  /** Opaque mark of the provider (Gemini's thought signature) that must come back with the call. */
  signature: z.string().optional(),
  /** Why the call must not be run, such as a budget that is nearly used up; the model reads it as the call's result. */
  refused: z.string().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** What one model call used; null where the provider did not say. */
export const Usage = z.object({
  input: z.int().nullable(),
  output: z.int().nullable(),
  cached: z.int().default(0),
  thinking: z.int().default(0),
  /** Part of the input that was written into the provider's cache, where it says so. */
  written: z.int().optional(),
  /** Credits of the platform that it took, where it says so. */
  credits: z.number().nonnegative().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** An amount in one currency, by its code of three letters: `{amount: 0.12, currency: 'CNY'}`. */
export const Money = z.object({ amount: z.number().nonnegative(), currency: z.string().regex(/^[A-Z]{3}$/) });
export type Money = z.infer<typeof Money>;

export const FinishReason = z.enum(['stop', 'tool_calls', 'length', 'content_filter']);
export type FinishReason = z.infer<typeof FinishReason>;

/** One entry of a conversation. */
export const Turn = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(ToolCall),
    finish: FinishReason,
    usage: Usage.nullable(),
  }),
  z.object({ role: z.literal('tool'), call_id: z.string(), name: z.string(), content: z.string(), ok: z.boolean() }),
]);
export type Turn = z.infer<typeof Turn>;
export type AssistantTurn = Extract<Turn, { role: 'assistant' }>;
export type ToolTurn = Extract<Turn, { role: 'tool' }>;

/** The loop's states. */
export const LoopState = z.enum([
  'idle',
  'parsing_goal',
  'planning',
  'executing',
  'observing',
  'reflecting',
  'summarizing',
  'done',
  'error',
]);
export type LoopState = z.infer<typeof LoopState>;

/** Why a loop ended. */
export const StopReason = z.enum([
  'submitted',
  'answered',
  'step_limit',
  'no_progress',
  'budget',
  'empty_reply',
  'context_full',
  'model_error',
  'cancelled',
]);
export type StopReason = z.infer<typeof StopReason>;

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.looseObject({ type: z.literal(type), ...shape });

/** What an agent's loop did, in the past tense; the frame's `task_id`, `from` and `attempt` say whose it is. */
export const LoopEvent = z.discriminatedUnion('type', [
  /** One turn, its text logged here and nowhere else; `turn` numbers the conversation from 0. */
  event('turn.added', { turn: z.int().nonnegative(), content: Turn }),
  event('state.changed', { from: LoopState, to: LoopState }),
  event('model.requested', { step: z.int(), turns: z.int(), hash: z.string() }),
  event('model.thought', { line: z.string() }),
  event('tool.started', { call_id: z.string(), name: z.string(), origin: z.string(), args_hash: z.string() }),
  event('tool.finished', {
    call_id: z.string(),
    name: z.string(),
    origin: z.string(),
    args_hash: z.string(),
    ok: z.boolean(),
    exit: z.int().nullable().optional(),
    files_touched: z.array(z.string()).default([]),
    result_hash: z.string(),
    ms: z.int(),
  }),
  event('hook.refused', { hook: z.string(), point: z.string(), reason: z.string() }),
  event('hook.failed', { hook: z.string(), point: z.string(), message: z.string() }),
  event('loop.stopped', { reason: StopReason, message: z.string(), steps: z.int() }),
  /** A `comment` tool call. `path` and `line` for inline ones. */
  event('comment.asked', {
    kind: z.enum(['note', 'inline']),
    body: z.string(),
    path: z.string().optional(),
    line: z.int().optional(),
  }),
  /** The role's plan, as it stands now. */
  event('plan.changed', {
    items: z.array(z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done', 'dropped']) })),
  }),
  /** A coding program of somebody else that plays a role. */
  event('program.started', { command: z.string() }),
  event('program.ended', { exit: z.int().nullable(), ms: z.int(), tail: z.string(), left: z.array(z.string()) }),
]);
export type LoopEvent = z.infer<typeof LoopEvent>;

/** Verdict of a run; null while there is none. */
export const Verdict = z.enum(['green', 'partial', 'red']);
export type Verdict = z.infer<typeof Verdict>;

/** Why a run is not green; the closed list. */
export const Cause = z.enum([
  'unverified',
  'needs_input',
  'toolchain_missing',
  'time_limit',
  'budget',
  'step_limit',
  'conflict',
  'push_rejected',
  'review_rejected',
  'upstream_error',
  'auth',
  'quota',
  'rate_limited',
  'empty_reply',
  'left_running',
  'artifact_missing',
  'tests_failing',
  'no_change',
  'no_permission',
  'no_worker',
  'misconfigured',
  'disk_full',
  'crashed',
  'stalled',
  'tests_weakened',
  'unproven',
  'interrupted',
  'cancelled',
]);
export type Cause = z.infer<typeof Cause>;

/** One unit of a flow. */
export const FlowNode = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'an id is 1-40 of A-Z a-z 0-9 _ -'),
  /** A role, or `name:N` for one agent. */
  target_agent: z.string(),
  /** What this node is asked to do, beside the goal. */
  payload: z.looseObject({ goal: z.string().optional(), constraints: z.array(z.string()).optional() }).default({}),
  /** The node or nodes that follow. */
  next: z.union([z.string(), z.array(z.string())]).nullish(),
  /** Nodes whose results this one waits for, besides those that name it in `next`. */
  needs: z.array(z.string()).optional(),
  /** The node that gets the work back on a blocking issue or `failed`; default: the nearest coder before it. */
  on_fail: z.string().optional(),
  timeout_ms: z.int().positive().optional(),
});
export type FlowNode = z.infer<typeof FlowNode>;
export const Flow = z.array(FlowNode).min(1).max(50);
export type Flow = z.infer<typeof Flow>;

/** A command that the coordinator's own code ran at `sha`; `exit` is null when it could not start or was ended. */
export const GateRun = z.object({
  id: z.string(),
  command: z.string(),
  kind: z.enum(['setup', 'build', 'test', 'lint', 'added']),
  sha: z.string(),
  exit: z.int().nullable(),
  ms: z.int(),
  tail: z.string(),
  /** A program that the command needs and that is not there. */
  missing: z.string().optional(),
});
export type GateRun = z.infer<typeof GateRun>;

/** What a run did, in the past tense; the frame's `task_id` is the run key or one of its tasks. */
export const RunEvent = z.discriminatedUnion('type', [
  event('run.started', {
    run_key: z.string(),
    pid: z.int(),
    version: z.string(),
    resumed: z.boolean(),
    trigger: z.unknown(),
  }),
  event('step.entered', { step: z.string() }),
  event('preflight.finished', { limits: z.array(z.object({ cause: Cause, message: z.string(), cure: z.string() })) }),
  /** How the run checks its work; `guessed` when the repository's file does not say. */
  event('commands.chosen', {
    commands: z.array(z.object({ kind: GateRun.shape.kind, command: z.string(), guessed: z.boolean() })),
  }),
  event('flow.planned', { flow: Flow, source: z.enum(['default', 'file', 'model']) }),
  event('agent.spawned', { name: z.string(), role: z.string(), pid: z.int(), start_time: z.string() }),
  event('agent.exited', { name: z.string(), pid: z.int(), exit: z.int().nullable(), signal: z.string().nullable() }),
  event('effect.intended', { key: z.string(), kind: z.string(), digest: z.string() }),
  event('effect.done', { key: z.string(), result: z.unknown() }),
  event('task.distilled', { node: z.string(), result: TaskResultPayload }),
  event('task.committed', {
    node: z.string(),
    sha: z.string(),
    files: z.array(z.string()),
    left_out: z.array(z.string()),
  }),
  event('work.returned', { node: z.string(), by: z.string(), count: z.int(), issues: z.array(Issue) }),
  event('gate.finished', { gate: GateRun }),
  event('review.finished', {
    round: z.int(),
    verdict: z.string(),
    missing: z.array(z.string()),
    cites: z.array(z.string()),
  }),
  /** The answer, or the review, that the run ends with, where nothing was to be changed. */
  event('work.answered', { text: z.string(), kind: z.enum(['answer', 'review']).default('answer') }),
  /** The files in which the commit to be judged differs from the base. */
  event('change.measured', { sha: z.string(), files: z.array(z.string()) }),
  /** Where the delivered work lies. */
  event('work.delivered', {
    branch: z.string().optional(),
    branch_url: z.string().optional(),
    sha: z.string().optional(),
    pull_number: z.string().optional(),
    pull_url: z.string().optional(),
    /** The work-in-progress branch, when it is still there. */
    wip: z.string().optional(),
  }),
  event('comment.noted', { body: z.string(), by: z.string() }),
  event('mention.listed', { comment_id: z.string(), author: z.string(), body: z.string() }),
  event('state.damaged', { path: z.string(), set_aside: z.string() }),
  event('usage.recorded', {
    role: z.string(),
    agent: z.string(),
    attempt: z.int(),
    turn: z.int(),
    model: z.string(),
    ok: z.boolean(),
    usage: Usage.nullable(),
    /** What was probably used, where the provider did not say; counts towards the budget. */
    estimate: Usage.optional(),
    /** What it cost by the price table of that day; absent when nothing was used or the price is not known. */
    cost: Money.optional(),
    /** True when the platform took credits for it instead of money. */
    on_credits: z.literal(true).optional(),
    /** The budget's level that the model was told with this request. */
    told: z.enum(['converge', 'wrap_up']).optional(),
    /** Calls that the model wrote as text, by format: those that were read, and those that could not be used; `structured` ones came without a name. */
    rescued: z.record(z.string(), z.int()).optional(),
    dropped: z.record(z.string(), z.int()).optional(),
    /** The reply came from the response cache, and nothing was used. */
    cached_reply: z.literal(true).optional(),
    ms: z.int(),
    error: z.string().optional(),
  }),
  /** What the run may use, as it was when its process started; what is missing has no limit. */
  event('budget.set', {
    tokens: z.number().optional(),
    money: Money.optional(),
    calls: z.number().optional(),
    seconds: z.number().optional(),
    /** What one unit of another currency is worth in the budget's. */
    rates: z.record(z.string(), z.number()).optional(),
  }),
  event('verdict.reached', {
    verdict: Verdict.nullable(),
    cause: Cause.nullable(),
    message: z.string(),
    next_step: z.string(),
    rerun_helps: z.boolean(),
  }),
  event('run.finished', { exit: z.int() }),
]);
export type RunEvent = z.infer<typeof RunEvent>;

/** Anything a `task.event` may carry. Agents of other people may log events of their own types. */
export const LoggedEvent = z.union([LoopEvent, RunEvent, z.looseObject({ type: z.string().min(1).max(64) })]);
export type LoggedEvent = z.infer<typeof LoggedEvent>;
