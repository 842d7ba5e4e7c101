import { z } from 'zod';
import { digest } from '../base/digest.ts';
import { messageOf } from '../base/errors.ts';
import { untilAborted } from '../base/promises.ts';
import type { ToolCall } from '../protocol/index.ts';
import type { ToolOffer } from './model.ts';
import { nudges } from './nudges.ts';
import type { SeenCall } from './progress-guard.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** A call that may run, or what the model is told instead. `key` stands for what the call does: its tool and its arguments without labels. */
export type CheckedCall = { readonly call: ToolCall; readonly key: string } & (
  | { readonly tool: Tool; readonly input: unknown; readonly problem?: undefined }
  | { readonly problem: string; readonly tool?: undefined; readonly input?: undefined }
);

/** A call with what came of it, or of the attempt to run it. */
export type FinishedCall = CheckedCall & { readonly outcome: ToolOutcome };

/** A tool as the model sees it. */
export function offerOf(tool: Tool): ToolOffer {
  const parameters = z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any' });
  return { name: tool.name, description: tool.description, parameters };
}

/** Finds the tool and checks the arguments; nothing ever runs on arguments that are cut, broken or do not fit. */
export async function checkCall(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  wasCut: boolean,
): Promise<CheckedCall> {
  const refuse = (problem: string) => ({ call, key: digest([call.name, call.input, problem]), problem });
  const tool = tools.get(call.name);
  if (tool === undefined) {
    return refuse(`There is no tool "${call.name}". The tools are: ${[...tools.keys()].join(', ')}.`);
  }
  if (call.broken !== undefined) {
    const cure = wasCut
      ? 'Your reply was cut by the output limit: call again with less at a time, a long text in several parts.'
      : 'Call again with one complete JSON object.';
    return refuse(`Not run: the arguments of "${call.name}" are unusable (${call.broken}). ${cure}`);
  }
  const parsed = await tool.input.safeParseAsync(call.input);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
    return refuse(`Not run: the arguments of "${call.name}" do not fit. ${faults.join('; ')}`);
  }
  const effective = Object.entries(parsed.data as object).filter(([name]) => !tool.labels?.includes(name));
  return { call, key: digest([call.name, Object.fromEntries(effective)]), tool, input: parsed.data };
}

/** Runs a tool. What it throws becomes text for the model; only the end of the whole attempt gets out as an exception. */
export async function runTool(tool: Tool, input: unknown, context: ToolContext): Promise<ToolOutcome> {
  try {
    const outcome = await untilAborted((async () => tool.run(input, context))(), context.signal);
    return typeof outcome === 'string' ? { text: outcome, ok: true } : outcome;
  } catch (error) {
    context.signal.throwIfAborted();
    return { text: messageOf(error), ok: false };
  }
}

/** Calls in their order, adjacent read-only ones together. */
export function inBatches(calls: readonly ToolCall[], tools: ReadonlyMap<string, Tool>): readonly ToolCall[][] {
  const isConcurrent = (call: ToolCall | undefined) => tools.get(call?.name ?? '')?.concurrent === true;
  const batches: ToolCall[][] = [];
  for (const call of calls) {
    const batch = batches.at(-1);
    if (isConcurrent(call) && isConcurrent(batch?.[0])) batch?.push(call);
    else batches.push([call]);
  }
  return batches;
}

/** What the log keeps of an outcome, besides the turn that holds its text. */
export function factsOf({ text, ok, exit, filesTouched = [] }: ToolOutcome) {
  return { ok, ...(exit !== undefined && { exit }), files_touched: [...filesTouched], result_hash: digest(text) };
}

/** What the progress guard sees of a call that ended with this text. */
export function seenCall({ call, key, tool, problem, outcome }: FinishedCall, text: string): SeenCall {
  const { ok, filesTouched } = outcome;
  const { path } = call.input;
  const mayChange = tool !== undefined && tool.concurrent !== true;
  return {
    tool: call.name,
    key,
    ...(problem !== nudges.blocked && { result: digest(text) }),
    silent: text === '' || text.startsWith('(no output)'),
    ...(!ok && typeof path === 'string' && { failure: `${path}: ${text.split('\n')[0]?.replaceAll(/\d+/g, '#')}` }),
    changed: filesTouched === undefined ? (mayChange ? undefined : false) : filesTouched.length > 0,
  };
}
