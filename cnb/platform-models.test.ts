import { expect, test } from 'vitest';
import { platformModels } from './platform-models.ts';

test('R-CNB-30: a build reaches the platform’s models under its repository, with its own token', () => {
  const env = { CNB_TOKEN: 't', CNB_REPO_SLUG: 'team/web/shop', CNB_API_ENDPOINT: 'https://api.cnb.example/' };
  expect(platformModels(env)).toMatchObject({
    baseURL: 'https://api.cnb.example/team/web/shop/-/ai-ide/v2',
    plainBaseURL: 'https://api.cnb.example/team/web/shop/-/ai',
    token: 't',
  });
});

test.each([{}, { CNB_TOKEN: 't' }, { CNB_REPO_SLUG: 'a/b', CNB_TOKEN: ' ' }])(
  'R-CNB-30: outside of a build there are none: %o',
  (env) => {
    expect(platformModels(env)).toBeUndefined();
  },
);
