import { type Envelope, isLoggedType } from '../../protocol/index.ts';
import { eventTypeOf } from '../show/log-line.ts';

/** Which frames of a log are wanted: one of each list that is not empty, and not older than `since`. */
export interface LogFilter {
  /** Parts of a task's id, whole ones in their order: a run key means the whole run, `code` its task and the returns of it. */
  readonly tasks?: readonly string[];
  /** Frame types; or types of the event inside a `task.event`, if no frame has that type. */
  readonly types?: readonly string[];
  /** Senders or recipients. */
  readonly agents?: readonly string[];
  /** Tasks that those agents were offered, whose `task.assign` counts as theirs although it is for a role. */
  readonly offered?: ReadonlySet<string>;
  /** ms since epoch; a frame without a time is older than anything. */
  readonly since?: number;
}

export function fits(frame: Envelope, { tasks, types, agents, offered, since }: LogFilter): boolean {
  if (since !== undefined && (frame.ts ?? Number.NEGATIVE_INFINITY) < since) return false;
  if (!anyOf(tasks, (task) => `.${frame.task_id}.`.includes(`.${task.replace(/^\./, '')}.`))) return false;
  const isOfType = (type: string) => frame.type === type || (!isLoggedType(type) && eventTypeOf(frame) === type);
  if (!anyOf(types, isOfType)) return false;
  if (frame.type === 'task.assign' && offered?.has(frame.task_id)) return true;
  return anyOf(agents, (agent) => frame.from === agent || frame.to === agent);
}

/** Whether everything fits. */
export function isOpen({ tasks = [], types = [], agents = [], since }: LogFilter): boolean {
  return tasks.length + types.length + agents.length === 0 && since === undefined;
}

function anyOf(wanted: readonly string[] = [], fits: (value: string) => boolean): boolean {
  return wanted.length === 0 || wanted.some(fits);
}
