import type { LogFilter, LogRow } from './storage.ts';

/** Whether a message is one of those that a filter asks for. */
export function fits(message: Omit<LogRow, 'body'>, { taskId, tree, type, agent }: LogFilter): boolean {
  if (taskId !== undefined && !isOfTask(message.taskId, taskId, tree ?? false)) return false;
  if (type !== undefined && message.type !== type) return false;
  return agent === undefined || message.from === agent || message.to === agent || message.box === agent;
}

function isOfTask(id: string, wanted: string, tree: boolean): boolean {
  return id === wanted || (tree && id.startsWith(`${wanted}.`));
}
