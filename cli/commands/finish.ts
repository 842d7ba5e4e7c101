import { Command } from 'commander';

/** `npc-crew finish`: for `failStages` and `endStages`. */
export function finishCommand(): Command {
  return new Command('finish')
    .description('complete the comment of a run that ended without doing so; does nothing otherwise')
    .option('--state <DIR>', 'state folder of the run; default: NPC_STATE_DIR, else the one of the build’s run')
    .addHelpText(
      'after',
      `
Reads the variables of the CNB build, like npc-crew run. Put it into failStages and endStages.

Examples:
  $ npc-crew finish`,
    )
    .action(async (options: { state?: string }) => {
      const { finishRun } = await import('../run/finish.ts');
      process.exitCode = await finishRun(options);
    });
}
