import type { GitRemote } from '../coordinator/forge.ts';
import type { CnbConnection } from './connection.ts';

/**
 * Git's way into the repository: the token travels as a header that only requests to this one repository carry, set through the
 * environment, so that no address, argument or file holds it.
 */
export function gitRemote(connection: CnbConnection): GitRemote {
  const url = connection.repositoryUrl.replace(/\/+$/, '');
  const basic = Buffer.from(`${connection.user}:${connection.token}`).toString('base64');
  const header = `Authorization: Basic ${basic}`;
  // git-lfs appends .git to an address without it.
  const addresses = url.endsWith('.git') ? [url] : [url, `${url}.git`];
  const settings: (readonly [string, string])[] = [
    ['credential.helper', ''],
    // The empty value first drops a header that the platform's checkout may have left in the configuration.
    ...addresses.flatMap((address) => [
      [`http.${address}.extraHeader`, ''] as const,
      [`http.${address}.extraHeader`, header] as const,
    ]),
  ];
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    url,
    env: {
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(pairs),
    },
    secrets: [connection.token, basic],
  };
}
