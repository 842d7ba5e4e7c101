import { expect, test } from 'vitest';
import { secretValues } from './secret-values.ts';

test('R-CLI-22: secrets of an environment are known by the names of their variables, and passwords inside addresses', () => {
  const environment = {
    OPENAI_API_KEY: 'value-of-a-key',
    CNB_TOKEN: 'value-of-a-token',
    DB_PASSWORD: 'value of a password',
    HTTPS_PROXY: 'http://me:p%40ss-word@proxy.example:3128',
  };
  const harmless = {
    GIT_AUTHOR_NAME: 'Wang Li',
    SSH_AUTH_SOCK: '/tmp/agent.1',
    GOOGLE_CREDENTIALS: '/etc/keys/google.json',
    SIGNING_PUBLIC_KEY: 'not a secret',
    HOME: '/home/me',
    NPC_BUDGET_TOKENS: '3000000',
    REGISTRY: 'https://registry.example/npm',
  };
  expect(secretValues({ ...environment, ...harmless }).sort()).toEqual(
    ['value-of-a-key', 'value-of-a-token', 'value of a password', 'p%40ss-word', 'p@ss-word'].sort(),
  );
});
