import type { TaskRow } from '../../protocol/index.ts';

/** A task and those below it: its sub-tasks, and those whose id goes on after a dot. */
export interface TaskNode {
  readonly id: string;
  /** Absent for a run's own key, which is no task. */
  readonly row?: TaskRow;
  readonly children: readonly TaskNode[];
}

/** The tree below an id, oldest children first. */
export function taskTree(id: string, rows: readonly TaskRow[]): TaskNode {
  const byId = new Map(rows.map((row) => [row.task_id, row]));
  const below = new Map<string, TaskRow[]>();
  for (const row of rows.toSorted((a, b) => a.created - b.created)) {
    const parent = parentOf(row, byId, id);
    if (parent !== undefined) below.set(parent, [...(below.get(parent) ?? []), row]);
  }
  // two tasks may name each other as parent
  const seen = new Set<string>();
  const grow = (own: string): TaskNode => {
    seen.add(own);
    const row = byId.get(own);
    const children = (below.get(own) ?? []).filter(({ task_id }) => !seen.has(task_id));
    return { id: own, ...(row && { row }), children: children.map(({ task_id }) => grow(task_id)) };
  };
  return grow(id);
}

/** All ids of a tree. */
export function idsOf({ id, children }: TaskNode): string[] {
  return [id, ...children.flatMap(idsOf)];
}

function parentOf({ task_id, parent }: TaskRow, known: ReadonlyMap<string, TaskRow>, root: string): string | undefined {
  if (task_id === root) return undefined;
  if (parent !== null && parent !== task_id && (known.has(parent) || parent === root)) return parent;
  for (let end = task_id.lastIndexOf('.'); end > 0; end = task_id.lastIndexOf('.', end - 1)) {
    const above = task_id.slice(0, end);
    if (known.has(above) || above === root) return above;
  }
  return undefined;
}
