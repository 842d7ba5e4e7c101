import { readFile } from 'node:fs/promises';
import type { Log } from '../base/log.ts';
import { createMasker } from '../base/mask.ts';
import { runLoop } from '../core/loop.ts';
import type { LoopOutcome } from '../core/loop-options.ts';
import { type Model, type ModelChoice, ModelError } from '../core/model.ts';
import type { Tool } from '../core/tool.ts';
import { budget } from '../hooks/budget.ts';
import { dangerousCommands } from '../hooks/dangerous-commands.ts';
import { leftRunning } from '../hooks/left-running.ts';
import { redaction } from '../hooks/redaction.ts';
import { type AssignedTask, type HubClient, serveTasks } from '../hub-client/index.ts';
import type { LoopEvent, TaskResultPayload } from '../protocol/index.ts';
import { endTask, ownTree, type TaskPlace, taskProcesses } from '../tools/lib/end-task.ts';
import { loadTools } from '../tools/load-tools.ts';
import { hostOf } from './host.ts';
import { openingOf } from './opening.ts';
import { watchForOrphan } from './orphan.ts';
import { resultOf } from './result.ts';
import type { RoleDefinition } from './role.ts';
import { createThoughtLog } from './thoughts.ts';

/** Tools that are left when a task's budget is nearly used up. */
const WRAP_UP_TOOLS = ['submit-result', 'comment'];

/** A model, and the tokens that the context of each choice holds, where that is known. */
export type SizedModel = Model & { readonly windows?: Readonly<Partial<Record<ModelChoice, number>>> };

export interface AgentOptions {
  readonly client: HubClient;
  readonly role: RoleDefinition;
  /** The model for one attempt. Throws {@link ModelError} when there is none. */
  readonly openModel: (task: AssignedTask) => Promise<SizedModel>;
  /** Work tree of tasks that name none. */
  readonly cwd: string;
  /** Environment for what the tools start: an allow-list without secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Values this process knows that no model and no log may see. */
  readonly secrets?: readonly string[];
  readonly log: Log;
  /** Takes a line for people. */
  readonly print?: (line: string) => void;
  /** Ends the agent: what runs is given back to the hub. */
  readonly signal: AbortSignal;
  /** Given by an agent process: see `watchForOrphan`. */
  readonly hasParent?: () => boolean;
}

/** Why an agent ended: its signal came, nobody is left to work for, or the hub does not want it back. */
export type AgentEnd = 'stopped' | 'orphaned' | 'closed';

/** Does the tasks that the hub offers to a role, until there is a reason to end. */
export async function runAgent(options: AgentOptions): Promise<AgentEnd> {
  const { client, role } = options;
  // Watched from the beginning: a client that closes while the tools load says so only once.
  const ended = reasonToEnd(options);
  const tools = await loadTools(role.tools);
  const prompt = await readFile(role.prompt, 'utf8');
  const mask = createMasker(options.secrets ?? []).mask;
  const stop = serveTasks(client, (task) => work(task, { ...options, tools, prompt, mask }));
  const end = await ended;
  await stop();
  return end;
}

/** Ends its own watches when it settles. */
async function reasonToEnd({ client, signal, hasParent }: AgentOptions): Promise<AgentEnd> {
  const ends: (() => void)[] = [];
  const end = await new Promise<AgentEnd>((resolve) => {
    if (signal.aborted) resolve('stopped');
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
    ends.push(client.onState((state) => state === 'closed' && resolve('closed')));
    if (hasParent) ends.push(watchForOrphan({ client, hasParent, clock: client.clock }, () => resolve('orphaned')));
  });
  for (const endWatch of ends) endWatch();
  return end;
}

interface WorkOptions extends AgentOptions {
  readonly tools: readonly Tool[];
  readonly prompt: string;
  readonly mask: (text: string) => string;
}

/** One attempt at a task. Whatever it started has ended when this returns or throws. */
async function work(task: AssignedTask, options: WorkOptions): Promise<TaskResultPayload> {
  const { role, log, print = () => {} } = options;
  const tree = await ownTree(task.payload);
  const place = { cwd: tree ?? options.cwd, tree, env: { ...options.env, NPC_TASK: task.id } };
  const running = async () => {
    const found = await taskProcesses(place);
    return found.map(({ pid, command }) => `${pid} ${command}`);
  };
  // What a killed attempt left behind must not write into the tree beside this one.
  if (task.attempt > 1) await endTask(place, { keepOutputs: true });
  print(`${role.name} works on ${task.id}${task.attempt > 1 ? `, attempt ${task.attempt}` : ''}`);
  try {
    const outcome = await runTask(task, { ...options, place, running });
    log.info({ taskId: task.id, attempt: task.attempt, reason: outcome.reason, steps: outcome.steps }, 'task ended');
    print(`${role.name} ended ${task.id}: ${outcome.reason} after ${outcome.steps} steps`);
    return resultOf(outcome, { answers: role.policy.answers === true, leftRunning: await running() });
  } finally {
    await endTask(place);
  }
}

interface TaskOptions extends WorkOptions {
  readonly place: TaskPlace;
  readonly running: () => Promise<string[]>;
}

async function runTask(task: AssignedTask, options: TaskOptions): Promise<LoopOutcome> {
  const { role, tools, place } = options;
  const thoughts = createThoughtLog((event) => task.event(event));
  const record = async (event: LoopEvent) => {
    await thoughts.finish();
    await task.event(event);
  };
  try {
    const model = await options.openModel(task);
    const window = model.windows?.[role.policy.choice];
    return await runLoop({
      opening: openingOf(options.prompt, tools, task.payload),
      transcript: await task.transcript(),
      policy: role.policy,
      model,
      limits: { ...(window !== undefined && { window }) },
      tools,
      hooks: [
        redaction(options.mask),
        dangerousCommands(place.cwd),
        budget({ used: usedBy(task, role, options.client), wrapUpTools: WRAP_UP_TOOLS }),
        leftRunning(options.running),
      ],
      context: { cwd: place.cwd, env: place.env, signal: task.signal, host: hostOf(task) },
      record,
      onDelta(delta) {
        task.alive();
        if (delta.kind === 'thinking') thoughts.push(delta.text);
      },
      alive: (busyUntil) => task.alive(busyUntil),
      clock: options.client.clock,
    });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { reason: 'model_error', message: error.message, errorKind: error.kind, steps: 0 };
  }
}

/** The share of a task's steps, or of its time if that is more, that is used when a step begins. */
function usedBy(task: AssignedTask, { policy }: RoleDefinition, { clock }: HubClient): (step: number) => number {
  const began = clock.now();
  const { deadline = Number.POSITIVE_INFINITY } = task.payload;
  return (step) => Math.max(step / policy.maxSteps, (clock.now() - began) / (deadline - began));
}
