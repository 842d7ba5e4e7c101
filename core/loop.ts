import { capText } from '../base/cap-text.ts';
import { digest } from '../base/digest.ts';
import { inParallel, untilAborted } from '../base/promises.ts';
import type { AssistantTurn, LoopEvent, LoopState, StopReason, ToolCall, Turn } from '../protocol/index.ts';
import { type CheckedCall, checkCall, type FinishedCall, factsOf, inBatches, runTool, seenCall } from './calls.ts';
import type { LoopOptions, LoopOutcome } from './loop-options.ts';
import { createRun, type Run } from './loop-run.ts';
import { ModelError, stopReasonOf } from './model.ts';
import { nudges } from './nudges.ts';
import { REPEATS } from './progress-guard.ts';
import { type Happened, nextState } from './states.ts';
import { lastReply, rebuildTurns, spokenTurns } from './transcript.ts';

/** What is done in each state; `states.ts` says which state follows what happened. */
const work: Record<Exclude<LoopState, 'done' | 'error'>, (run: Run) => Promise<Happened>> = {
  idle: async () => 'started',
  parsing_goal: readGoal,
  planning: (run) => askModel(run, nudges.plan),
  executing: (run) => askModel(run),
  observing: runCalls,
  reflecting: (run) => askModel(run, nudges.reflect),
  summarizing: judgeText,
};

/**
 * Works on one task until `end` names a reason: submitted, answered, step_limit, no_progress, context_full, empty_reply, or what a
 * `ModelError` stands for (budget, model_error); an aborted signal is `cancelled`. Each turn and call is stored before the next step, so
 * that another attempt can go on; besides this file only `hooks.ask` logs (what it refused). Throws when the log cannot be written.
 */
export async function runLoop(options: LoopOptions): Promise<LoopOutcome> {
  const run = createRun(options);
  let state: LoopState = 'idle';
  try {
    while (state !== 'done' && state !== 'error') state = await enter(run, state, await work[state](run));
    await run.record(stopped(run.outcome));
  } catch (error) {
    if (!run.signal.aborted) throw error;
    end(run, 'cancelled', 'The attempt was cancelled.');
    // Nobody waits for this one: an attempt that lost its lease may not log any more.
    options.record(stopped(run.outcome)).catch(() => {});
  }
  return run.outcome;
}

async function enter(run: Run, from: LoopState, happened: Happened): Promise<LoopState> {
  run.signal.throwIfAborted();
  const to = nextState(from, happened, run.policy);
  if (run.cycle > 0 && to !== 'observing' && to !== 'summarizing') {
    await run.hooks.ask('cycle.ended', { step: run.cycle });
    run.cycle = 0;
  }
  if (to === from) return to;
  await run.record({ type: 'state.changed', from, to });
  await run.hooks.ask('state.changed', { from, to });
  return to;
}

/** Lays the conversation out: the opening, or what earlier attempts logged, so that no reply is paid for twice. */
async function readGoal(run: Run): Promise<Happened> {
  const { turns, repairs } = rebuildTurns(run.transcript ?? [], (name) => run.tools.get(name)?.concurrent === true);
  run.turns = turns;
  run.steps = turns.filter((turn) => turn.role === 'assistant').length;
  for (const turn of [...run.opening.slice(turns.length), ...repairs]) await add(run, turn);
  const { reply, open } = lastReply(run.turns);
  if (reply === undefined) return 'goal_read';
  if (open.length > 0) return 'calls_made';
  const isAnswer = reply === run.turns.at(-1) && !wasTold(run, nudges.plan) && !wasTold(run, nudges.reflect);
  return isAnswer && reply.content.trim() !== '' ? 'text_written' : 'calls_finished';
}

/** Asks for one reply, the one thing that costs: `model` books it on the run's budget. Tools, hooks and `makeRoom` ask no model. */
async function askModel(run: Run, prompt?: string): Promise<Happened> {
  if (run.steps >= run.policy.maxSteps) return end(run, 'step_limit', `Not done after ${run.steps} steps.`);
  if (prompt !== undefined) await tell(run, prompt);
  run.turns = await run.window.makeRoom(run.turns);
  if (run.window.isFull(run.turns)) return end(run, 'context_full', "The task outgrew the model's context.");
  run.cycle = run.steps + 1;
  await run.hooks.ask('cycle.started', { step: run.cycle });
  const reply = await requestReply(run);
  if (reply instanceof ModelError) return end(run, stopReasonOf(reply), reply.message, { errorKind: reply.kind });
  await add(run, reply);
  run.window.counted(run.turns, reply.usage);
  if (reply.calls.length > 0) return 'calls_made';
  if (reply.content.trim() !== '') return 'text_written';
  if (wasTold(run, nudges.empty)) return end(run, 'empty_reply', 'The model answered nothing, twice in a row.');
  await tell(run, nudges.empty);
  return 'nothing_written';
}

async function requestReply(run: Run): Promise<AssistantTurn | ModelError> {
  const { seen } = await run.hooks.ask('model.before', { turns: spokenTurns(run.turns), tools: run.offers });
  await run.record({ type: 'model.requested', step: run.cycle, turns: seen.turns.length, hash: digest(seen) });
  run.alive(run.clock.now() + run.limits.replyBusyMs);
  try {
    const request = { ...seen, choice: run.policy.choice, turn: run.steps };
    const reply = await untilAborted(run.model.reply(request, run.signal, run.onDelta), run.signal);
    return (await run.hooks.ask('model.after', { reply })).seen.reply;
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return error.kind === 'empty' ? { role: 'assistant', content: '', calls: [], finish: 'stop', usage: null } : error;
  }
}

/** Runs what the last reply asks for, in its order: adjacent `concurrent` (read-only) calls at the same time, any other call alone. */
async function runCalls(run: Run): Promise<Happened> {
  const { reply, open } = lastReply(run.turns);
  let happened: Happened = 'calls_finished';
  for (const batch of inBatches(open, run.tools)) {
    const checked = await inParallel(batch, 1, (call) => mayRun(run, call, reply?.finish === 'length'));
    const finished = await inParallel(checked, run.limits.parallel, (call) => perform(run, call));
    for (const call of finished) {
      const settled = await settle(run, call);
      if (settled === 'succeeded' || settled === 'stopped') return settled;
      if (settled === 'calls_repeated') happened = settled;
    }
  }
  return happened;
}

/** Whatever speaks against a call (its arguments, repetition, a hook) is logged and becomes its result, for the model to read. */
async function mayRun(run: Run, call: ToolCall, wasCut: boolean): Promise<CheckedCall> {
  const checked = await checkCall(call, run.tools, wasCut);
  const { key } = checked;
  if (checked.problem !== undefined) return checked;
  if (run.guard.blocks(key)) {
    await run.record({ type: 'hook.refused', hook: 'progress-guard', point: 'tool.before', reason: nudges.blocked });
    return { call, key, problem: nudges.blocked };
  }
  const { seen, refusal } = await run.hooks.ask('tool.before', { call });
  if (refusal !== undefined) return { call, key, problem: refusal };
  return seen.call === call ? checked : await checkCall({ ...seen.call, id: call.id }, run.tools, false);
}

/** Runs a call and logs when it began and what came of it. */
async function perform(run: Run, checked: CheckedCall): Promise<FinishedCall> {
  const { call, key, tool, input, problem } = checked;
  if (problem !== undefined) return { ...checked, outcome: { text: problem, ok: false } };
  const about = { call_id: call.id, name: call.name, origin: call.origin, args_hash: key };
  await run.record({ type: 'tool.started', ...about });
  const began = run.clock.monotonic();
  const outcome = await runTool(tool, input, run.toolContext);
  const ms = Math.round(run.clock.monotonic() - began);
  await run.record({ type: 'tool.finished', ...about, ...factsOf(outcome), ms });
  const { seen } = await run.hooks.ask('tool.after', { call, outcome });
  return { ...checked, outcome: seen.outcome };
}

/** Gives a result to the model, unless it is a submitted one that no hook refuses: that one ends the loop. */
async function settle(run: Run, finished: FinishedCall): Promise<Happened> {
  let { text, ok, submits } = finished.outcome;
  if (submits !== undefined) {
    const { seen, refusal } = await run.hooks.ask('submit.before', { result: submits });
    // No turn: the task's result is its record, and an attempt that finds this call open runs it again.
    if (refusal === undefined) return end(run, 'submitted', seen.result.summary, { result: seen.result });
    [text, ok] = [refusal, false];
  }
  const { id, name } = finished.call;
  const times = run.guard.repetitions(seenCall(finished, text));
  const note = times >= REPEATS.nudge ? `\n${nudges.repeated(times)}` : '';
  const content = capText(text || '(no output)', run.limits.result, finished.tool?.rest).text + note;
  await add(run, { role: 'tool', call_id: id, name, content, ok });
  if (times >= REPEATS.stop) return end(run, 'no_progress', `"${name}" was called ${times} times and nothing changed.`);
  return times >= REPEATS.nudge ? 'calls_repeated' : 'calls_finished';
}

/** Text ends the loop if the role was asked a question. Otherwise the model is told once to hand in a result. */
async function judgeText(run: Run): Promise<Happened> {
  const { content: answer = '', finish } = lastReply(run.turns).reply ?? {};
  const nudge = !run.policy.answers ? nudges.submit : finish === 'length' ? nudges.shorten : undefined;
  if (nudge === undefined || wasTold(run, nudge)) return end(run, 'answered', 'It ended with text.', { answer });
  await tell(run, nudge);
  return 'nudged';
}

/** Logs a turn, then puts it where the model sees it. */
async function add(run: Run, turn: Turn): Promise<void> {
  await run.record({ type: 'turn.added', turn: run.turns.length, content: turn });
  run.turns = [...run.turns, turn];
  if (turn.role === 'assistant') run.steps += 1;
  run.alive();
}

async function tell(run: Run, content: string): Promise<void> {
  if (run.turns.at(-1)?.content !== content) await add(run, { role: 'user', content });
}

/** Whether the last reply came right after the model was told this. */
function wasTold(run: Run, content: string): boolean {
  return run.turns.at(-2)?.content === content;
}

/** Sets down why the loop ends. Only a submitted result, and text as the answer to a question, are a success. */
function end(run: Run, reason: StopReason, message: string, more: Partial<LoopOutcome> = {}): Happened {
  run.outcome = { ...more, reason, message, steps: run.steps };
  return reason === 'submitted' || (reason === 'answered' && run.policy.answers) ? 'succeeded' : 'stopped';
}

function stopped({ reason, message, steps }: LoopOutcome): LoopEvent {
  return { type: 'loop.stopped', reason, message, steps };
}
