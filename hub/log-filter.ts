import { isLoggedType } from '../protocol/frame-types.ts';
import type { LogFilter, LogRow } from './storage.ts';

/** A message as far as it is judged. */
type Judged = Omit<LogRow, 'body'> & { readonly body: Buffer | string };

/** Whether a message is one of those that a filter asks for. */
export function fits(message: Judged, { taskId, tree, type, agent }: LogFilter): boolean {
  if (taskId !== undefined && !isOfTask(message.taskId, taskId, tree ?? false)) return false;
  if (type !== undefined && message.type !== type && !tellsOf(message, type)) return false;
  return agent === undefined || message.from === agent || message.to === agent || message.box === agent;
}

function isOfTask(id: string, wanted: string, tree: boolean): boolean {
  return id === wanted || (tree && id.startsWith(`${wanted}.`));
}

/** Whether it is a `task.event` whose event has this type, as nothing else in the log can have it. */
function tellsOf({ type, body }: Judged, wanted: string): boolean {
  if (type !== 'task.event' || isLoggedType(wanted) || !body.includes(`"${wanted}"`)) return false;
  const { payload } = JSON.parse(String(body)) as { payload?: { event?: { type?: unknown } | null } | null };
  return payload?.event?.type === wanted;
}
