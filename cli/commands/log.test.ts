import { expect, test } from 'vitest';
import { logCommand } from './log.ts';

test.each([
  [
    ['--since', 'soon'],
    /^error: option '--since <TIME>' argument 'soon' is invalid\. a time is written like one of these: 10m, 2h/,
  ],
  [['-n', 'x'], /whole number/],
  [['--task', ','], /empty/],
  [['--follow', '--story', 'x'], /--story and --follow do not go together/],
  [['--story', 'x', '--type', 'route'], /--story tells one task as a whole and does not take --type/],
  [['--replay', 'x', '--task', 'y'], /--replay takes the file as it is, without --task/],
  [['--speed', '10'], /--speed belongs to --replay/],
  [['--replay', 'x', '--speed', '0'], /above 0/],
  [['--full'], /--full belongs to --story/],
  [['--follow', '--file', '/dev/null'], /--follow needs a hub/],
])('R-CLI-3: log %j is wrong usage', async (args, words) => {
  const command = logCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  await expect(command.parseAsync(args, { from: 'user' })).rejects.toMatchObject({
    message: expect.stringMatching(words),
    code: expect.stringMatching(/usage|invalidArgument/),
  });
});
