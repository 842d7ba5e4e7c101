import type { ToolContext } from '../../core/tool.ts';
import { clearOutputs } from './output-folder.ts';
import { endProcesses, type LiveProcess } from './process-tree.ts';

/**
 * Cleans up behind a task: ends every process that carries its `NPC_TASK`, wherever it went, and removes the files of
 * long outputs when `keepOutputs` is not set. Returns what could not be ended.
 */
export async function endTask(
  context: Pick<ToolContext, 'cwd' | 'env'>,
  options: { readonly keepOutputs?: boolean } = {},
): Promise<LiveProcess[]> {
  const { NPC_TASK: task } = context.env;
  const left = task ? await endProcesses({ marker: `NPC_TASK=${task}` }) : [];
  if (!options.keepOutputs) await clearOutputs(context);
  return left;
}
