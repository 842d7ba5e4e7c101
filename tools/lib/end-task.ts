import { endProcesses, type LiveProcess } from '../../base/process-tree.ts';
import type { ToolContext } from '../../core/tool.ts';
import { clearOutputs } from './output-folder.ts';

/**
 * Cleans up behind a task: ends every process that carries its `NPC_TASK`, wherever it went, and removes the files of
 * long outputs unless `keepOutputs` is set. At the start of a further attempt it ends what a dead agent left. Returns
 * what could not be ended.
 */
export async function endTask(
  context: Pick<ToolContext, 'cwd' | 'env'>,
  options: { readonly keepOutputs?: boolean } = {},
): Promise<LiveProcess[]> {
  const { NPC_TASK: value } = context.env;
  const left = value ? await endProcesses({ variable: { name: 'NPC_TASK', value } }, 500) : [];
  if (!options.keepOutputs) await clearOutputs(context);
  return left;
}
