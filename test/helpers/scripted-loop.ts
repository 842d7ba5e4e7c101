import { z } from 'zod';
import { runLoop } from '../../core/loop.ts';
import type { LoopOptions, LoopOutcome } from '../../core/loop-options.ts';
import type { Model, ModelRequest } from '../../core/model.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import type { AssistantTurn, LoopEvent, ToolCall, ToolTurn, Turn } from '../../protocol/index.ts';

/** One step of a scripted model: a reply, an error to throw, or something to do. */
export type ScriptStep =
  | AssistantTurn
  | Error
  | ((request: ModelRequest, signal: AbortSignal) => AssistantTurn | Promise<AssistantTurn>);

/** A model that plays a list and notes what it was asked; one step more than the list is a fault of the test. */
export function scriptedModel(script: readonly ScriptStep[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async reply(request, signal) {
      const step = script[requests.length];
      requests.push(request);
      if (step === undefined) throw new Error(`the script has no step ${requests.length}`);
      if (step instanceof Error) throw step;
      return typeof step === 'function' ? step(request, signal) : step;
    },
  };
}

/** A model that does the same at each step; `make` gets the number of the step, from 0. */
export function endlessModel(make: (step: number) => AssistantTurn): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async reply(request) {
      requests.push(request);
      return make(requests.length - 1);
    },
  };
}

export function says(content: string, more: Partial<AssistantTurn> = {}): AssistantTurn {
  return { role: 'assistant', content, calls: [], finish: 'stop', usage: null, ...more };
}

export function calls(...calls: ToolCall[]): AssistantTurn {
  return { role: 'assistant', content: '', calls, finish: 'tool_calls', usage: null };
}

let count = 0;

export function call(name: string, input: Record<string, unknown> = {}, more: Partial<ToolCall> = {}): ToolCall {
  count += 1;
  return { id: `call-${count}`, name, input, origin: 'native', ...more };
}

/** Hands in a result, as the real tool does. */
export const submitTool = defineTool({
  name: 'submit-result',
  description: 'End with a result.',
  concurrent: true,
  input: z.object({ summary: z.string() }),
  run: ({ summary }) => ({
    text: 'taken',
    ok: true,
    filesTouched: [],
    submits: { status: 'success', summary, artifacts: [], issues: [] },
  }),
});

export function submit(summary = 'done'): AssistantTurn {
  return calls(call('submit-result', { summary }));
}

/** A tool of a test; without more it takes anything and says "ok". */
export function tool(name: string, more: Partial<Tool> = {}): Tool {
  return defineTool({ name, description: `The tool ${name}.`, input: z.looseObject({}), run: () => 'ok', ...more });
}

/** What a run of the loop left behind. */
export interface PlayedLoop {
  readonly outcome: LoopOutcome;
  readonly events: readonly LoopEvent[];
  /** The turns that were logged. */
  readonly turns: readonly Turn[];
  readonly results: readonly ToolTurn[];
  readonly states: readonly string[];
}

export const opening: readonly Turn[] = [
  { role: 'system', content: 'You are a coder.' },
  { role: 'user', content: 'Mend the parser.' },
];

/** Runs the loop with a model, a few tools and options, all in memory, and collects what it logged. */
export async function playLoop(
  model: Model,
  options: Partial<LoopOptions> & { readonly signal?: AbortSignal; readonly events?: LoopEvent[] } = {},
): Promise<PlayedLoop> {
  const { signal = new AbortController().signal, events = [], tools = [], ...more } = options;
  const outcome = await runLoop({
    opening,
    policy: { choice: 'default', maxSteps: 40 },
    model,
    tools: tools.some((tool) => tool.name === submitTool.name) ? tools : [...tools, submitTool],
    context: {
      cwd: '/nowhere',
      signal,
      env: {},
      host: { ask: async () => 'yes', comment: async () => 'c1', plan: async () => {} },
    },
    record: async (event) => {
      events.push(event);
    },
    ...more,
  });
  return { outcome, events, ...readEvents(events) };
}

/** The turns, results and states that a list of events tells of. */
export function readEvents(events: readonly LoopEvent[]) {
  const turns = events.flatMap((event) => (event.type === 'turn.added' ? [event.content] : []));
  return {
    turns,
    results: turns.filter((turn) => turn.role === 'tool'),
    states: events.flatMap((event) => (event.type === 'state.changed' ? [event.to] : [])),
  };
}
