import { Command } from 'commander';
import type { DemoOptions } from '../demo/demo.ts';

/** `npc-crew demo`: a mention becomes a pull request, on this machine and without a key. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('watch a mention become a pull request: everything real but the model, which plays a script')
    .option('--json', 'print the outcome as one line of JSON')
    .option('--keep-open', 'leave the platform and the model server up until Ctrl-C')
    .option('--script <FILE>', 'model script to play, see docs/model-scripts.md')
    .option('--repo <DIR>', 'folder whose content is the repository to work in')
    .option('--state <DIR>', 'where everything is kept; default: a new folder in ~/.local/state/npc-crew')
    .addHelpText(
      'after',
      '\nExamples:\n  $ npm run demo\n  $ npc-crew demo --keep-open\n  $ npc-crew demo --script my-script.json --repo my-project --json',
    )
    .action(async (options: DemoOptions) => {
      const { demo } = await import('../demo/demo.ts');
      process.exitCode = await demo(options);
    });
}
