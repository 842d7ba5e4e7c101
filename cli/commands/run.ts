import { Command, Option } from 'commander';
import { drawRunKey } from '../../coordinator/run-key.ts';
import { say } from '../print.ts';
import type { RunOptions } from '../run/run-process.ts';
import { supervise } from '../supervisor.ts';

/** `npc-crew run`: one run, from a mention or a goal to its report. */
export function runCommand(): Command {
  return new Command('run')
    .description('answer the mention that started this build, or work towards a goal in a git work tree')
    .option('--goal <TEXT>', 'what is to be done; without it the variables of a CNB build say so')
    .option('--repo <DIR>', 'git work tree for --goal; default: this folder')
    .option('--hub <URL>', 'use a hub that is up, and whoever is there')
    .option(
      '--flow <FILE>',
      'JSON array of {id, target_agent, payload, next} instead of architect, coder, reviewer, verifier',
    )
    .option('--state <DIR>', 'state folder; default: NPC_STATE_DIR, else one per run in ~/.local/state/npc-crew')
    .option('--in-process', 'run the agents inside this process, for debugging')
    .option('--json', 'print the verdict as one line of JSON')
    .addOption(new Option('--run-key <KEY>').hideHelp())
    .addOption(new Option('--resume').hideHelp())
    .addHelpText(
      'after',
      `
The model: OPENAI_BASE_URL, OPENAI_API_KEY, NPC_MODEL; NPC_FLASH_MODEL and NPC_REVIEW_MODEL if they differ.
NPC_MENTIONS_EVERY_MS: ms between two looks into the thread for "@Agent stop" (30000, at least 1000).

Examples:
  $ npc-crew run                                            in a CNB pipeline
  $ npc-crew run --goal "fix the failing test" --repo .     the work ends on a branch npc/goal-…
  $ npc-crew run --goal "…" --flow flow.json --hub ws://127.0.0.1:8765`,
    )
    .action(async (options: Omit<RunOptions, 'runKey'> & { runKey?: string }) => {
      process.exitCode = await (options.runKey === undefined ? startSupervised() : startRun(options, options.runKey));
    });
}

/** The parent: the run itself is a child with the same arguments and a key, which tells it from the parent. */
function startSupervised(): Promise<number> {
  const [program, main = '', ...args] = process.argv;
  return supervise([program ?? process.execPath, ...process.execArgv, main, ...args, '--run-key', drawRunKey()], say);
}

async function startRun(options: Omit<RunOptions, 'runKey'>, runKey: string): Promise<number> {
  // the parent needs none of what the run loads
  const { runProcess } = await import('../run/run-process.ts');
  return runProcess({ ...options, runKey });
}
