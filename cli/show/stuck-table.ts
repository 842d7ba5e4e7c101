import type { StuckTask } from '../read/stuck.ts';
import { table } from './table.ts';
import { duration } from './task-table.ts';
import { plain } from './width.ts';

/** Tasks that do not get on, each with what to do about it on a line below, uncut: a command in it is to be copied. */
export function stuckTable(stuck: readonly StuckTask[], { columns = 160 }: { columns?: number }): string[] {
  if (stuck.length === 0) return ['nothing is stuck'];
  const rows = stuck.map(({ task, why, for_ms }) => [task.task_id, task.sub_state, duration(for_ms), why]);
  const [head = '', ...lines] = table(['TASK', 'STATE', 'FOR', 'WHY'], rows, columns);
  return [head, ...lines.flatMap((line, index) => [line, `  → ${plain(stuck[index]?.cure ?? '')}`])];
}
