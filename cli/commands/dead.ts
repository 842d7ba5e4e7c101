import { createInterface } from 'node:readline/promises';
import { Command, InvalidArgumentError } from 'commander';
import { AppError } from '../../base/errors.ts';
import type { DeadRow } from '../../hub/index.ts';
import { print, say } from '../print.ts';
import { type DeadLetters, openDeadLetters, type Place } from '../read/dead.ts';
import { deadTable } from '../show/dead-table.ts';
import { plural } from '../show/units.ts';

interface Options extends Place {
  readonly box?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `npc-crew dead`: messages that were never handed over. */
export function deadCommand(): Command {
  return new Command('dead')
    .description('show or drop dead letters: messages that were never handed to whom they were for')
    .addCommand(listCommand())
    .addCommand(dropCommand())
    .addHelpText(
      'after',
      '\nExamples:\n  $ npc-crew dead list --hub ws://127.0.0.1:8765\n  $ npc-crew dead drop 17 18',
    );
}

function listCommand(): Command {
  return addPlace(new Command('list'))
    .description('show dead letters, with why nobody got them')
    .option('--box <NAME>', 'only those that were for this agent')
    .option('--json', 'one a line, as JSON, with the whole message')
    .addHelpText('after', '\nExamples:\n  $ npc-crew dead list\n  $ npc-crew dead list --box coder-1 --json')
    .action(async ({ box, json, ...where }: Options) => {
      const rows: DeadRow[] = [];
      for await (const row of (await openDeadLetters(where)).list()) {
        if (box !== undefined && row.box !== box) continue;
        if (json) await print(JSON.stringify(row));
        else rows.push(row);
      }
      if (json) return;
      if (rows.length === 0 && box !== undefined) return print(`no dead letters for ${box}`);
      const columns = process.stdout.isTTY ? { columns: process.stdout.columns } : {};
      for (const line of deadTable(rows, columns)) await print(line);
    });
}

function dropCommand(): Command {
  return addPlace(new Command('drop'))
    .description('take dead letters off the list; the log keeps the messages')
    .argument('[LSN...]', 'those at these positions, as `dead list` shows them', position)
    .option('--all', 'all of them')
    .option('--box <NAME>', 'all that were for this agent')
    .option('--yes', 'do not ask before --all; needed without a terminal')
    .addHelpText(
      'after',
      `
Where a hub is at work in the folder, it drops them; nobody else writes into its log.

Examples:
  $ npc-crew dead drop 17 18
  $ npc-crew dead drop --box coder-1 --hub ws://127.0.0.1:8765
  $ npc-crew dead drop --all --yes`,
    )
    .action(drop);
}

function addPlace(command: Command): Command {
  return command
    .option('--state <DIR>', 'state folder of a run; default: the newest run')
    .option('--hub <URL>', 'hub that is up, as in ws://127.0.0.1:8765')
    .option('--token-file <FILE>', 'file of the token for it; default: the variable NPC_HUB_TOKEN');
}

async function drop(lsns: readonly number[], { all, box, yes, ...where }: Options): Promise<void> {
  if ([lsns.length > 0, all, box !== undefined].filter(Boolean).length !== 1) {
    throw new AppError('usage', 'name what to drop: positions (dead drop 17 18), --box NAME, or --all');
  }
  if (all && !yes && !process.stdin.isTTY) {
    throw new AppError('usage', 'dead drop --all asks before it drops; where nobody can answer, add --yes');
  }
  const letters = await openDeadLetters(where);
  if (lsns.length === 0) {
    if (all && !yes && !(await agreed(letters))) say('nothing was dropped');
    else await print(`${plural(await letters.dropAll(box), 'dead letter')} dropped`);
    return;
  }
  const dropped = await letters.drop(lsns);
  if (dropped < lsns.length) {
    const missing =
      lsns.length === 1 ? `there is no dead letter ${lsns[0]}` : `${lsns.length - dropped} of them are none`;
    throw new AppError('not_found', `${missing}, ${dropped} dropped; npc-crew dead list shows what there is`);
  }
  await print(`${plural(dropped, 'dead letter')} dropped`);
}

async function agreed(letters: DeadLetters): Promise<boolean> {
  let count = 0;
  for await (const _ of letters.list()) count += 1;
  if (count === 0) return true;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(`drop ${plural(count, 'dead letter')}? [y/N] `)).trim());
  } finally {
    asking.close();
  }
}

function position(text: string, before: readonly number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('a position is a whole number, as in 17.');
  return [...before, Number(text)];
}
