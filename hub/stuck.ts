import type { AgentRow, TaskRow } from '../protocol/index.ts';
import { toAgentRow, toTaskRow } from './inspect.ts';
import type { TaskRecord } from './storage.ts';
import type { HubView } from './view.ts';

/** What is known beside its row of a task that is not over. */
export interface TaskSurroundings {
  /** Connected agents that it could go to; undefined where nobody can tell. */
  readonly able: readonly Pick<AgentRow, 'name' | 'tasks'>[] | undefined;
  /** Whether an agent is connected; true where nobody can tell. */
  readonly isThere: (name: string) => boolean;
  /** For how long its worker has given no sign of life, and how long it may, ms; 0 = for ever. */
  readonly quietMs: number;
  readonly silenceMs: number;
  /** What its worker asked. */
  readonly question?: string;
}

/** Why a task stands where it stands. */
export interface Standstill {
  readonly kind: 'unassigned' | 'unserved' | 'in_line' | 'offered' | 'asked' | 'lost' | 'quiet' | 'cancelling';
  readonly why: string;
}

/** What a task waits for that is not over; undefined while its worker is at it. How long it may is for others to judge. */
export function standstill(task: TaskRow, around: TaskSurroundings): Standstill | undefined {
  const { target, owner, agent } = task;
  switch (task.sub_state) {
    case 'queued':
      if (target === '') return { kind: 'unassigned', why: `${owner} has not said who is to do it` };
      if (around.able === undefined) return { kind: 'unserved', why: `nobody took it yet, for ${target}` };
      if (around.able.length === 0) return { kind: 'unserved', why: `no agent for ${target} is connected` };
      return { kind: 'in_line', why: `waits for a free slot; ${around.able.map(doing).join(', ')}` };
    case 'offered':
      return { kind: 'offered', why: `${agent} has not accepted it` };
    case 'input_required': {
      const isAsked = around.question === undefined ? `waits for an answer of ${owner}` : `${agent} asked ${owner}`;
      const away = around.isThere(owner) ? '' : ', who is not connected';
      return { kind: 'asked', why: `${isAsked}${away}${around.question === undefined ? '' : `: ${around.question}`}` };
    }
    case 'working':
      if (agent !== null && !around.isThere(agent)) return { kind: 'lost', why: `${agent} is not connected` };
      if (around.silenceMs === 0 || around.quietMs < around.silenceMs / 2) return undefined;
      return { kind: 'quiet', why: `no sign of life from ${agent}` };
    case 'cancelling':
      return { kind: 'cancelling', why: `${agent} has not stopped yet` };
    default:
      return undefined;
  }
}

/** What goes on by itself in a moment. */
const passing: ReadonlySet<Standstill['kind']> = new Set(['in_line', 'offered', 'cancelling']);

/** Why a task does not get on without somebody's help; undefined while it does, or when it is over. */
export function whyStuck(record: TaskRecord, { agents, tasks }: Pick<HubView, 'agents' | 'tasks'>): string | undefined {
  const live = tasks.live(record.taskId);
  if (live === undefined) return undefined;
  const found = standstill(toTaskRow(record), {
    // Of the others nobody asks, and there may be many.
    able: record.subState === 'queued' ? agents.workers(record.target).map(toAgentRow) : undefined,
    isThere: (name) => agents.get(name)?.connection !== undefined,
    quietMs: live.quietMs,
    silenceMs: record.silenceMs,
  });
  if (found === undefined || passing.has(found.kind)) return undefined;
  return found.kind === 'quiet' ? `${found.why} for ${Math.round(live.quietMs / 1000)} s` : found.why;
}

function doing({ name, tasks }: Pick<AgentRow, 'name' | 'tasks'>): string {
  return tasks.length > 0 ? `${name} is on ${tasks.join(' ')}` : `${name} is free`;
}
