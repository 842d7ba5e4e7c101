import { Command } from 'commander';
import type { AgentOptions } from '../agent/agent-process.ts';

/** `npc-crew agent ROLE`: one role agent on a hub. */
export function agentCommand(): Command {
  return new Command('agent')
    .description('join a hub as an agent of one role, and do its tasks until a signal comes')
    .argument('<role>', 'architect, coder, reviewer, verifier; with --exec any name')
    .option('--name <NAME>', 'name on the hub; default: the role and four digits')
    .option('--hub <URL>', 'hub to join', 'ws://127.0.0.1:8765')
    .option(
      '--gateway <URL>',
      'model gateway of a run; without it the agent asks the model itself, with OPENAI_* and NPC_MODEL',
    )
    .option(
      '--exec <CMD>',
      'another program plays the role: {task} is a Markdown file to read, {result} a file to write; without {result} its stdout counts',
    )
    .option('--token-file <FILE>', 'file of the token for that hub; default: the variable NPC_HUB_TOKEN')
    .option('--token-stdin', 'read {"hub_token", "process_token"} as one line of JSON from stdin')
    .option('--no-thinking', 'do not show what the model thinks; the message log has it all the same')
    .option('--state <DIR>', 'folder for diagnostics')
    .addHelpText(
      'after',
      `
A task that names a work tree (options.tree) is done there; one that names none in the folder that this command was
started in, which it shares with others then.

The token for a hub that asks for one comes from --token-file, from NPC_HUB_TOKEN, or from --token-stdin.

Examples:
  $ npc-crew agent coder
  $ npc-crew agent coder --name my-coder --exec 'some-coding-program --task {task} --out {result}'`,
    )
    .action(async (role: string, options: Omit<AgentOptions, 'role'>) => {
      const { agentProcess } = await import('../agent/agent-process.ts');
      process.exitCode = await agentProcess({ ...options, role });
    });
}
