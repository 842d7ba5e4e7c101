import { expect, test } from 'vitest';
import { deadCommand } from './dead.ts';

test.each([
  [['drop'], /name what to drop: .*--all/],
  [['drop', '1', '--all'], /name what to drop/],
  [['drop', 'x'], /a position is a whole number/],
  [['list', '--hub', 'ws://x', '--state', 'y'], /--state and --hub do not go together/],
])('R-CLI-25: dead %j is wrong usage', async (args, words) => {
  const command = deadCommand();
  for (const part of command.commands) part.exitOverride().configureOutput({ writeErr: () => {} });
  await expect(command.parseAsync(args, { from: 'user' })).rejects.toMatchObject({
    message: expect.stringMatching(words),
    code: expect.stringMatching(/usage|invalidArgument/),
  });
});
