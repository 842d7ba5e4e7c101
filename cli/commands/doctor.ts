import { Command } from 'commander';

/** `npc-crew doctor model`: what the configured models can do. */
export function doctorCommand(): Command {
  const model = new Command('model')
    .description('ask the configured models a few short questions, and tell what each can do')
    .argument('[names...]', 'models at OPENAI_BASE_URL; default: all that a run may ask, fallbacks too')
    .option('--json', 'one line of JSON: an array of models with their checks')
    .addHelpText(
      'after',
      `
It looks at the key, the name, whether the reply is streamed, tools, their results, parallel calls, pictures, and whether
tokens and thinking are told. That takes about seven short calls a model, which the provider counts. What is found out steers
the runs of this user for 30 days.

Exit code: 0 when a run can work with the first model, 3 when not.

Examples:
  $ npc-crew doctor model
  $ npc-crew doctor model glm-5 kimi-k2.5
  $ npc-crew doctor model --json | jq '.[].checks[] | select(.verdict != "yes")'`,
    )
    .action(async (names: string[], options: { json?: boolean }) => {
      const { doctorModel } = await import('../doctor/doctor-model.ts');
      process.exitCode = await doctorModel(names, options);
    });
  return new Command('doctor').description('find out what is wrong, or what works').addCommand(model);
}
