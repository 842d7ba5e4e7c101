import { expect, test } from 'vitest';
import { childEnv } from './child-env.ts';

const secret = ['s3cret', 'value'].join('-');

test('R-CLI-2: what a shell needs to work and to install is handed on', () => {
  const needed = {
    PATH: '/usr/bin',
    HOME: '/root',
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    https_proxy: 'http://127.0.0.1:3128',
    npm_config_registry: 'http://127.0.0.1:4873',
    GOPROXY: 'off',
    JAVA_HOME: '/opt/jdk',
  };
  expect(childEnv(needed)).toEqual(needed);
});

test('R-CLI-2: no token, no key and nothing of the platform is handed on', () => {
  const names = [
    'CNB_TOKEN',
    'OPENAI_API_KEY',
    'GITHUB_TOKEN',
    'CNB_REPO_SLUG',
    'NPC_MODEL',
    'AWS_SECRET_ACCESS_KEY',
    'X',
  ];
  const parent = Object.fromEntries(names.map((name) => [name, secret]));
  expect(childEnv({ ...parent, npm_config__authToken: secret, '': secret })).toEqual({});
});

test('R-CLI-2: a value of several lines is dropped, whatever its name (A19)', () => {
  expect(childEnv({ BLOB: `{\n"token": "${secret}"\n}`, LC_NOTE: `a\n${secret}`, PATH: `/bin\r${secret}` })).toEqual(
    {},
  );
});

test('R-CLI-2: a URL that carries a login is dropped', () => {
  expect(childEnv({ HTTPS_PROXY: `http://me:${secret}@proxy:3128`, GOPROXY: `https://${secret}@host/` })).toEqual({});
});
