import type { Envelope } from '../../protocol/index.ts';
import { eventTypeOf } from '../show/log-line.ts';

/** Which frames of a log are wanted; what is absent does not restrict. */
export interface LogFilter {
  /** Parts of a task's id, whole ones in their order: a run key means the whole run, `code` its task and the returns of it. */
  readonly task?: string;
  /** A frame type, or the type of the event inside a `task.event`. */
  readonly type?: string;
  /** Sender or recipient. */
  readonly agent?: string;
}

export function fits(frame: Envelope, filter: LogFilter): boolean {
  const { task, type, agent } = filter;
  if (task !== undefined && !`.${frame.task_id}.`.includes(`.${task.replace(/^\./, '')}.`)) return false;
  if (type !== undefined && frame.type !== type && eventTypeOf(frame) !== type) return false;
  return agent === undefined || frame.from === agent || frame.to === agent;
}
