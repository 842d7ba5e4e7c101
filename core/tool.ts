import type { z } from 'zod';
import type { Host } from './host.ts';

/** What the loop gives a tool. */
export interface ToolContext {
  /** Absolute path of the task's work tree. */
  readonly cwd: string;
  /** Fires when the attempt is cancelled or the call's time is over. */
  readonly signal: AbortSignal;
  readonly host: Host;
  /** Facts that must outlive one call within a task, such as which file contents were read; keyed by tool family. */
  readonly memo: Map<string, unknown>;
  /** Environment for child processes: an allow-list, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Tells the loop that the call is alive, for instance because output grew. */
  alive(): void;
}

/** What a tool hands back. Text goes to the model (capped by the loop), the rest to the log. */
export interface ToolOutcome {
  readonly text: string;
  readonly ok: boolean;
  /** Exit code of the command, where there was one; null when it was ended. */
  readonly exit?: number | null;
  /** Paths, relative to the work tree, that the call wrote. */
  readonly filesTouched?: readonly string[];
}

export interface Tool<S extends z.ZodType = z.ZodType> {
  /** Also the file's name. */
  readonly name: string;
  /** One or two sentences for the model: what it does, what it returns, its limits. */
  readonly description: string;
  readonly input: S;
  /** True when adjacent calls may run at the same time (it changes nothing). Default false. */
  readonly concurrent?: boolean;
  /** Arguments that do not change what the call does (labels, time limits); left out when repeated calls are counted. */
  readonly labels?: readonly string[];
  run(input: z.infer<S>, context: ToolContext): Promise<string | ToolOutcome> | string | ToolOutcome;
}

/** Types a tool's `run` from its `input`. A thrown error becomes text for the model, so its message says what to do next. */
export function defineTool<S extends z.ZodType>(tool: Tool<S>): Tool {
  return tool as unknown as Tool;
}
