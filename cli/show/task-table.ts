import type { TaskRow } from '../../protocol/index.ts';
import { table } from './table.ts';

/** The task table as people see it, in the order in which the tasks came. */
export function taskTable(tasks: readonly TaskRow[], options: { now: number; columns?: number }): string[] {
  if (tasks.length === 0) return ['no tasks yet'];
  const rows = [...tasks]
    .sort((a, b) => a.created - b.created)
    .map((task) => [
      task.task_id,
      task.state === task.sub_state ? task.state : `${task.state} (${task.sub_state})`,
      String(task.attempt),
      task.agent ?? task.target,
      duration((isOver(task) ? task.updated : options.now) - task.created),
      task.summary ?? task.reason ?? '',
    ]);
  return table(['TASK', 'STATE', 'ATTEMPT', 'AGENT', 'TIME', 'SUMMARY'], rows, options.columns);
}

function isOver(task: TaskRow): boolean {
  return task.state === 'done' || task.state === 'failed';
}

/** `41s`, `3m 05s`, `2h 10m`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(seconds / 3600)}h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')}m`;
}
