import { Command } from 'commander';
import { print } from '../print.ts';
import type { GiveOptions } from '../tasks/give-task.ts';
import type { Speaker } from '../tasks/rule-task.ts';

/** `npc-crew tasks give`: a task by hand. */
export function giveCommand(): Command {
  return addSpeaker(new Command('give'))
    .description('give a task to an agent or to a role')
    .argument('<TARGET>', 'NAME of an agent, or role:ROLE')
    .argument('<GOAL>', 'what is to be done')
    .option('--id <ID>', 'id of the task; default: one that is free')
    .option('--tree <DIR>', 'work tree that the task has to itself; default: the folder of the agent')
    .option('--wait', 'stay until it is over, and print its result')
    .option('--json', 'one line of JSON')
    .addHelpText(
      'after',
      `
Prints the id of the task, with --wait its result. Exit codes with --wait: 0 success, 3 failed, cancelled, or nobody did it.
Without --wait the result lies in the log (npc-crew tasks ID shows it), and waits a day for the owner's name (--as).

Examples:
  $ npc-crew tasks give role:translator "Translate README.md" --wait --hub ws://127.0.0.1:8765
  $ npc-crew tasks give coder-1 "fix the failing test" --tree . --id fix.1`,
    )
    .action(async (to: string, goal: string, _: unknown, command: Command) => {
      const { giveTask } = await import('../tasks/give-task.ts');
      process.exitCode = await giveTask(to, goal, optionsOf<GiveOptions>(command));
    });
}

/** `npc-crew tasks cancel`: the end of a task by hand. */
export function cancelCommand(): Command {
  return addSpeaker(new Command('cancel'))
    .description('end a task that is not over')
    .argument('<ID>', 'the task, by its id or the end of it')
    .option('--reason <TEXT>', 'why, for its worker and the log', 'cancelled by hand')
    .option('--json', 'one line of JSON')
    .addHelpText('after', `${rule}\nExamples:\n  $ npc-crew tasks cancel fix.1 --hub ws://127.0.0.1:8765`)
    .action(async (id: string, _: unknown, command: Command) => {
      const { reason, json, ...speaker } = optionsOf<Speaker & { reason: string; json?: boolean }>(command);
      const { cancelTask } = await import('../tasks/rule-task.ts');
      const task_id = await cancelTask(id, reason, speaker);
      await print(json ? JSON.stringify({ task_id, reason }) : `${task_id} is being cancelled: ${reason}`);
    });
}

/** `npc-crew tasks answer`: the answer to a worker's question by hand. */
export function answerCommand(): Command {
  return addSpeaker(new Command('answer'))
    .description('answer the question that a task waits for; tasks --stuck shows it')
    .argument('<ID>', 'the task, by its id or the end of it')
    .argument('<TEXT>', 'the answer')
    .option('--json', 'one line of JSON')
    .addHelpText(
      'after',
      `${rule}\nExamples:\n  $ npc-crew tasks answer fix.1 "the second one" --hub ws://127.0.0.1:8765`,
    )
    .action(async (id: string, text: string, _: unknown, command: Command) => {
      const { json, ...speaker } = optionsOf<Speaker & { json?: boolean }>(command);
      const { answerTask } = await import('../tasks/rule-task.ts');
      const task_id = await answerTask(id, text, speaker);
      await print(json ? JSON.stringify({ task_id, text }) : `${task_id} has its answer`);
    });
}

const rule = `
The owner of a task may do so, and whoever has a token for admin: on a hub without tokens that is everybody, else the token
in the hub's folder. To be the owner, take its name with --as; nobody can while it is connected.
`;

/** Its own options and those that stand before its name; there `--state` is a list, which may hold states too. */
function optionsOf<T extends Speaker>(command: Command): T {
  const { state, ...options } = command.optsWithGlobals<T>();
  const [folder] = [state ?? []].flat();
  return { ...options, ...(folder !== undefined && { state: folder }) } as T;
}

function addSpeaker(command: Command): Command {
  return command
    .option('--as <NAME>', 'name on the hub, such as that of the owner; default: a new one')
    .option('--state <DIR>', 'state folder of a run whose hub is up; default: the newest run')
    .option('--hub <URL>', 'hub that is up, as in ws://127.0.0.1:8765')
    .option('--token-file <FILE>', 'file of the token for it; default: the variable NPC_HUB_TOKEN');
}
