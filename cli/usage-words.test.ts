import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parseCount, parsePort } from './options.ts';
import { usageWords } from './usage-words.ts';

/** What a person reads who calls this command with these arguments. */
function told(...args: string[]): string {
  let text = '';
  const command = new Command('log')
    .option('-n, --last <N>', 'how many', parseCount)
    .option('--port <N>', 'port', parsePort)
    .argument('[LSN]', 'position', parseCount)
    .exitOverride()
    .configureOutput({
      outputError: (words, write) => write(usageWords(words)),
      writeErr: (words) => {
        text += words;
      },
    });
  expect(() => command.parse(args, { from: 'user' })).toThrow();
  return text;
}

test.each([
  [['-n', 'x'], 'npc-crew: --last x: it is a whole number, as in 20\n'],
  [['--port', "it's"], "npc-crew: --port it's: a port is 0-65535\n"],
  [['seven'], 'npc-crew: LSN seven: it is a whole number, as in 20\n'],
  [['--lost'], "npc-crew: unknown option '--lost'\n(Did you mean --last?)\n"],
  [['--last'], "npc-crew: option '-n, --last <N>' argument missing\n"],
])(
  'R-CLI-3: a wrong argument %j is told with the flag as it was written, its value, and what it may be',
  (args, words) => {
    expect(told(...args)).toBe(words);
  },
);
