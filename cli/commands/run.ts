import { Command, Option } from 'commander';
import { drawRunKey } from '../../coordinator/run-key.ts';
import { hubAddress } from '../hub-address.ts';
import { onlyOne } from '../options.ts';
import { say } from '../print.ts';
import type { RunOptions } from '../run/run-process.ts';
import { abortOnSignal } from '../signals.ts';
import { endWithSupervisor, supervise } from '../supervisor.ts';

/** `npc-crew run`: one run, from a mention or a goal to its report. */
export function runCommand(): Command {
  return new Command('run')
    .description('answer the mention that started this build, or work towards a goal in a git work tree')
    .option('--goal <TEXT>', 'what is to be done; without it the variables of a CNB build say so')
    .option('--repo <DIR>', 'git work tree for --goal; default: this folder')
    .option('--hub <URL>', 'use a hub that is up, and whoever is there')
    .option('--token-file <FILE>', 'file of the token for that hub; default: the variable NPC_HUB_TOKEN')
    .option(
      '--flow <FILE>',
      'JSON array of {id, target_agent, payload, next} instead of architect, coder, reviewer, verifier',
    )
    .option('--state <DIR>', 'state folder; default: NPC_STATE_DIR, else one per run in ~/.local/state/npc-crew')
    .option('--in-process', 'run the agents inside this process, for debugging')
    .option('--record <FILE>', 'keep what models are asked and answer in FILE (.jsonl, or .jsonl.gz), without secrets')
    .option('--replay <FILE>', 'answer from such a FILE; no model is asked, and no key is needed')
    .option('--no-thinking', 'do not show what models think; the message log has it all the same')
    .option('--json', 'print the verdict as one line of JSON')
    .addOption(new Option('--run-key <KEY>').hideHelp())
    .addOption(new Option('--supervisor <PID>').argParser(Number).hideHelp())
    .addOption(new Option('--resume').hideHelp())
    .addHelpText(
      'after',
      `
The model: OPENAI_BASE_URL, OPENAI_API_KEY, NPC_MODEL; NPC_FLASH_MODEL and NPC_REVIEW_MODEL if they differ.
When it fails: NPC_FALLBACK_MODELS at the same endpoint, then NPC_FALLBACK_BASE_URL, _API_KEY and _MODEL (also _2 to _9).
What it may use: NPC_BUDGET_TOKENS (3000000), NPC_BUDGET_MONEY ("20 CNY"), NPC_BUDGET_CALLS, NPC_BUDGET_SECONDS.
On CNB no key is needed: the platform's models then spend AI credits; NPC_PLATFORM_MODELS=off forbids it.
NPC_PRICES: a file of prices and context windows; NPC_CONTEXT_WINDOW: tokens that the model's context holds.
NPC_RESPONSE_CACHE: a file of replies that are given again to the same request.
NPC_THINKING: off does what --no-thinking does.
NPC_MENTIONS_EVERY_MS: ms between two looks into the thread for "@Agent stop" (30000, at least 1000).

Examples:
  $ npc-crew run                                            in a CNB pipeline
  $ npc-crew run --goal "fix the failing test" --repo .     the work ends on a branch npc/goal-…
  $ npc-crew run --goal "…" --flow flow.json --hub ws://127.0.0.1:8765`,
    )
    .action(async (options: RunArguments) => {
      // told before a model is missed, and before anything is made for the run
      if (options.hub !== undefined) hubAddress(options.hub);
      onlyOne({ '--record': options.record, '--replay': options.replay });
      process.exitCode = await (options.runKey === undefined
        ? startSupervised(options)
        : startRun({ ...options, runKey: options.runKey }));
    });
}

type RunArguments = Omit<RunOptions, 'runKey'> & {
  readonly runKey?: string;
  /** pid of the parent of a supervised run. */
  readonly supervisor?: number;
};

/** The parent: the run itself is a child with the same arguments and a key, which tells it from the parent. */
function startSupervised(options: RunArguments): Promise<number> {
  const [program = process.execPath, main = '', ...args] = process.argv;
  const ours = ['--run-key', drawRunKey(), '--supervisor', String(process.pid)];
  return supervise([program, ...process.execArgv, main, ...args, ...ours], {
    say,
    async onUnanswered(signal) {
      const { noteUnanswered } = await import('../run/stopped.ts');
      await noteUnanswered(options, signal);
    },
  });
}

async function startRun({ supervisor, ...options }: RunArguments & { readonly runKey: string }): Promise<number> {
  // first of all: loading the run takes long enough for a signal to come
  const signal = abortOnSignal();
  if (supervisor !== undefined) endWithSupervisor(supervisor, say);
  // the parent needs none of what the run loads
  const { runProcess } = await import('../run/run-process.ts');
  return runProcess(options, signal);
}
