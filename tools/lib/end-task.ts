import { realpath } from 'node:fs/promises';
import { endProcesses, findProcesses, type LiveProcess, type ProcessMark } from '../../base/process-tree.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { TaskPayload } from '../../protocol/index.ts';
import { clearOutputs } from './output-folder.ts';

/** Where a task works. */
export interface TaskPlace extends Pick<ToolContext, 'cwd' | 'env'> {
  /** Real path of the work tree that this task has to itself: whatever works in it belongs to the task. */
  readonly tree?: string | undefined;
}

/** The real path of a work tree that a task names for itself; undefined when it names none. */
export async function ownTree(payload: TaskPayload): Promise<string | undefined> {
  const tree = payload.options?.tree;
  return tree === undefined ? undefined : realpath(tree).catch(() => tree); // a tree that is not there shows when it is used
}

/** The processes of a task: they carry its `NPC_TASK`, wherever they went, or work in its own tree. */
export function taskProcesses(place: TaskPlace): Promise<LiveProcess[]> {
  const mark = markOf(place);
  return mark ? findProcesses(mark) : Promise.resolve([]);
}

/**
 * Cleans up behind a task: ends every process of it, and removes the files of long outputs unless `keepOutputs` is set. At the start of
 * a further attempt it ends what a dead agent left. Returns what could not be ended.
 */
export async function endTask(
  place: TaskPlace,
  options: { readonly keepOutputs?: boolean } = {},
): Promise<LiveProcess[]> {
  const mark = markOf(place);
  const left = mark ? await endProcesses(mark, 500) : [];
  if (!options.keepOutputs) await clearOutputs(place);
  return left;
}

function markOf({ env: { NPC_TASK: value }, tree }: TaskPlace): ProcessMark | undefined {
  return value ? { variable: { name: 'NPC_TASK', value }, ...(tree && { folder: tree }) } : undefined;
}
