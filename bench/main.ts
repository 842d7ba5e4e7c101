/** `npm run bench -- NAME`: measurements, run from the built program. */
import { Command } from 'commander';
import { hubCommand } from './hub/command.ts';
import { llmCommand } from './llm/command.ts';

const program = new Command('npm run bench --')
  .description('Measurements of npc-crew. Progress goes to stderr, results to stdout.')
  .addCommand(hubCommand())
  .addCommand(llmCommand())
  .action(() => program.outputHelp());

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
