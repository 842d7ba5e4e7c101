import type { z } from 'zod';
import type { TaskResultPayload } from '../protocol/index.ts';
import type { Host } from './host.ts';

/** What the loop gives a tool. */
export interface ToolContext {
  /** Absolute path of the task's work tree. */
  readonly cwd: string;
  /** Fires when the attempt is cancelled. A tool that needs a time limit keeps it itself. */
  readonly signal: AbortSignal;
  readonly host: Host;
  /** Facts that must outlive one call within a task, such as which file contents were read; keyed by tool family. */
  readonly memo: Map<string, unknown>;
  /** Environment for child processes: an allow-list, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Tells that the call is alive, for instance because output grew; `busyUntil` (ms since epoch) that it may be silent until then. */
  alive(busyUntil?: number): void;
}

/** What a tool hands back. Text goes to the model (capped by the loop; empty text as "(no output)"), the rest to the log. */
export interface ToolOutcome {
  readonly text: string;
  readonly ok: boolean;
  /** Exit code of the command, where there was one; null when it was ended. */
  readonly exit?: number | null;
  /** Paths, relative to the work tree, that the call wrote. Absent means unknown, as after a shell command. */
  readonly filesTouched?: readonly string[];
  /** The role's result. If no hook objects, the loop ends with it; an objection becomes the call's text. */
  readonly submits?: TaskResultPayload;
}

export interface Tool<S extends z.ZodType = z.ZodType> {
  /** Also the file's name. */
  readonly name: string;
  /** One or two sentences for the model: what it does, what it returns, its limits. */
  readonly description: string;
  readonly input: S;
  /** True when it changes nothing: adjacent calls may run at the same time, and one that was interrupted is just run again. Default false. */
  readonly concurrent?: boolean;
  /** Arguments that do not change what the call does (labels, time limits); left out when repeated calls are counted. */
  readonly labels?: readonly string[];
  /** How to get what the cap cut out of a long result, as in "read on with `offset`". */
  readonly rest?: string;
  run(input: z.infer<S>, context: ToolContext): Promise<string | ToolOutcome> | string | ToolOutcome;
}

/** Types a tool's `run` from its `input`. A thrown error becomes text for the model, so its message says what to do next. */
export function defineTool<S extends z.ZodType>(tool: Tool<S>): Tool {
  return tool as unknown as Tool;
}
