import type { Envelope, TaskRow } from '../../protocol/index.ts';
import { frames } from '../../protocol/index.ts';

/** An agent as a log shows it. */
export interface SeenAgent {
  readonly name: string;
  readonly roles: readonly string[];
  /** ms since epoch of its first and last frame; 0 where the log has no times. */
  readonly connected: number;
  readonly last_seen: number;
  /** Tasks it sent frames for. */
  readonly tasks: readonly string[];
}

/** The task table as the frames of a log tell it, one after the other. */
export class TaskFold {
  readonly #rows = new Map<string, TaskRow>();

  /** Takes the next frame; returns the row that it changed. */
  take(frame: Envelope): TaskRow | undefined {
    const row = this.#rows.get(frame.task_id);
    const next = row ? advance(row, frame) : open(frame);
    if (!next) return undefined;
    const dated = { ...next, updated: frame.ts ?? next.updated };
    this.#rows.set(frame.task_id, dated);
    return dated;
  }

  rows(): TaskRow[] {
    return [...this.#rows.values()];
  }
}

/** The task table at the end of a log; for a log file that came without its database. */
export async function foldTasks(log: AsyncIterable<Envelope>): Promise<TaskRow[]> {
  const fold = new TaskFold();
  for await (const frame of log) fold.take(frame);
  return fold.rows();
}

function open(frame: Envelope): TaskRow | undefined {
  if (frame.task_id === '' || (frame.type !== 'task.assign' && frame.type !== 'register_task')) return undefined;
  const at = frame.ts ?? 0;
  const target = frame.type === 'register_task' ? '' : frame.to;
  const whom = { owner: frame.from, target, agent: null, parent: parentOf(frame) };
  const state = { state: 'pending', sub_state: 'queued', attempt: 0, reason: null, summary: null } as const;
  return { task_id: frame.task_id, ...whom, ...state, created: at, updated: at };
}

function advance(row: TaskRow, frame: Envelope): TaskRow | undefined {
  switch (frame.type) {
    case 'task.assign':
      return { ...row, target: frame.to, parent: parentOf(frame) };
    case 'task.accept':
      return {
        ...row,
        state: 'running',
        sub_state: 'working',
        attempt: frame.attempt ?? row.attempt,
        agent: frame.from,
      };
    case 'task.status': {
      const status = frames['task.status'].safeParse(frame).data?.payload;
      return status && { ...row, ...status };
    }
    case 'task.result': {
      const result = frames['task.result'].safeParse(frame).data?.payload;
      if (!result || (frame.attempt ?? row.attempt) < row.attempt) return undefined;
      const state = result.status === 'success' ? 'done' : 'failed';
      return { ...row, state, sub_state: state, agent: frame.from, summary: result.summary };
    }
    default:
      return undefined;
  }
}

function parentOf(frame: Envelope): string | null {
  return frames['task.assign'].safeParse(frame).data?.payload.options?.parent ?? null;
}

/** Who spoke in a log. */
export async function foldAgents(log: AsyncIterable<Envelope>): Promise<SeenAgent[]> {
  const seen = new Map<string, { roles: Set<string>; connected: number; last: number; tasks: Set<string> }>();
  const agent = (name: string, ts: number) => {
    const known = seen.get(name) ?? { roles: new Set(), connected: ts, last: ts, tasks: new Set() };
    seen.set(name, known);
    return known;
  };
  for await (const frame of log) {
    const ts = frame.ts ?? 0;
    if (frame.from && frame.from !== 'hub') {
      const known = agent(frame.from, ts);
      known.last = ts;
      if (frame.type.startsWith('task.') && frame.attempt !== undefined) known.tasks.add(frame.task_id);
    }
    const event = frames['task.event'].safeParse(frame).data?.payload.event;
    if (event?.type === 'agent.spawned') agent(String(event.name), ts).roles.add(String(event.role));
  }
  return [...seen].map(([name, known]) => ({
    name,
    roles: [...known.roles],
    connected: known.connected,
    last_seen: known.last,
    tasks: [...known.tasks],
  }));
}
