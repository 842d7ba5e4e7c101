import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readAgentSecrets } from './agent-secrets.ts';

function stdinOf(text: string) {
  const stdin = new PassThrough();
  stdin.write(text);
  return stdin;
}

test('R-CLI-5: the secrets are the first line of stdin; nobody has to close it', async () => {
  expect(await readAgentSecrets(stdinOf('{"hub_token":"h","process_token":"p"}\n'))).toEqual({
    hub_token: 'h',
    process_token: 'p',
  });
  expect(await readAgentSecrets(stdinOf('{}\n'))).toEqual({});
});

test.each(['secret-in-plain-text\n', '["h"]\n', '{"hub_token":7}\n', '\n'])(
  'R-CLI-5: a first line that is no such JSON is refused without being repeated: %j',
  async (text) => {
    const refused = await readAgentSecrets(stdinOf(text)).catch((error) => error);
    expect(refused).toMatchObject({ code: 'usage' });
    expect(refused.message).not.toContain('secret-in-plain-text');
  },
);

test('R-CLI-5: a stdin that stays silent or ends at once is refused', async () => {
  await expect(readAgentSecrets(stdinOf(''), 20)).rejects.toMatchObject({ code: 'usage' });
  await expect(readAgentSecrets(new PassThrough().end())).rejects.toMatchObject({ code: 'usage' });
});
