import { Command, CommanderError } from 'commander';
import { AppError, messageOf } from '../base/errors.ts';
import { environment } from '../config/index.ts';
import { agentCommand } from './commands/agent.ts';
import { agentsCommand } from './commands/agents.ts';
import { deadCommand } from './commands/dead.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { finishCommand } from './commands/finish.ts';
import { hubCommand } from './commands/hub.ts';
import { logCommand } from './commands/log.ts';
import { reportCommand } from './commands/report.ts';
import { runCommand } from './commands/run.ts';
import { tasksCommand } from './commands/tasks.ts';
import { watchCommand } from './commands/watch.ts';
import { Exit } from './exit-code.ts';
import { reportFault } from './fault.ts';
import { stateRoot } from './state-folder.ts';
import { usageWords } from './usage-words.ts';
import { version } from './version.ts';

const program = new Command('npc-crew')
  .description('A crew of coding agents: a mention in a thread becomes a reviewed, tested pull request.')
  .version(version)
  .showHelpAfterError('(npc-crew --help lists the commands)')
  .configureHelp({ sortSubcommands: false })
  .addHelpText(
    'after',
    `
Exit codes: 0 green, or nothing to do   1 a fault of its own   2 wrong usage   3 red   4 partial   130 SIGINT   143 SIGTERM

Examples:
  $ npc-crew demo                                      watch it work, without a key
  $ npc-crew run --goal "fix the failing test" --repo . work in any git work tree
  $ npc-crew log                                       what was said in the newest run`,
  );

const commands = [
  ...[runCommand(), finishCommand(), hubCommand(), agentCommand()],
  ...[
    logCommand(),
    tasksCommand(),
    agentsCommand(),
    deadCommand(),
    watchCommand(),
    reportCommand(),
    doctorCommand(),
    demoCommand(),
  ],
];
for (const command of commands) {
  program.addCommand(command.copyInheritedSettings(program));
  command.showHelpAfterError(`(npc-crew ${command.name()} --help tells more)`);
}
const parts = commands.flatMap((command) =>
  command.commands.map((part) =>
    part
      .copyInheritedSettings(program)
      .showHelpAfterError(`(npc-crew ${command.name()} ${part.name()} --help tells more)`),
  ),
);
for (const command of [program, ...commands, ...parts]) {
  command.exitOverride().configureOutput({ outputError: (text, write) => write(usageWords(text)) });
}

// a reader that went away (`npc-crew log | head`, a build that was killed) is no fault
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  const code = error.code === 'ENOSPC' ? 'disk_full' : 'usage';
  throw new AppError(code, `cannot write to stdout: ${messageOf(error)}`, { cause: error });
});
// where nothing can be told, there is nobody to tell that either
process.stderr.on('error', () => {});

const faults = stateRoot(environment());
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (thrown: unknown) => process.exit(reportFault(thrown, faults)));
}

try {
  await program.parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? Exit.ok : Exit.usage;
  else process.exitCode = reportFault(thrown, faults);
}
