import { Command } from 'commander';

interface Options {
  readonly hub?: string;
  readonly state?: string;
  readonly tokenFile?: string;
}

/** `npc-crew watch`: a hub live, in the terminal. */
export function watchCommand(): Command {
  return new Command('watch')
    .description('watch a hub live: agents, tasks, messages a second, the newest messages; any number of people may')
    .option('--state <DIR>', 'state folder of a run; default: the newest run')
    .option('--hub <URL>', 'hub that is up, as in ws://127.0.0.1:8765')
    .option('--token-file <FILE>', 'file of the token for it; default: the variable NPC_HUB_TOKEN')
    .addHelpText(
      'after',
      `
On a terminal a table that redraws itself; else a line for each thing that changes.

Examples:
  $ npc-crew watch                               the newest run
  $ npc-crew watch --hub ws://127.0.0.1:8765
  $ npc-crew watch | tee watched.txt             (npc-crew log --follow shows every message)`,
    )
    .action(async (options: Options) => {
      const { watchHub } = await import('../log/watch-hub.ts');
      await watchHub(options);
    });
}
