import { expect, test } from 'vitest';
import { ModelSettings, readConfig } from '../config/index.ts';
import type { RepoConfig } from '../coordinator/repo-config.ts';
import {
  creditsNotice,
  missingVariables,
  modelNames,
  modelProblem,
  withPlatform,
  withRepoModels,
} from './model-gateway.ts';

const settings = (environment: Record<string, string>) => readConfig(ModelSettings, { environment });

test('R-CLI-12: a missing model or key is told by the variable that mends it, in the language of the request', () => {
  expect(modelProblem(settings({}), 'en')).toContain('NPC_MODEL');
  expect(modelProblem(settings({ NPC_MODEL: 'm' }), 'zh-CN')).toMatch(/api\.openai\.com.*OPENAI_API_KEY/);
  expect(modelProblem(settings({ NPC_MODEL: 'm', OPENAI_API_KEY: 'k' }), 'en')).toBeUndefined();
});

test.each(['http://127.0.0.1:8080/v1', 'http://localhost/v1', 'http://[::1]:1/v1'])(
  'R-CLI-12: a model on this machine needs no key: %s',
  (url) => {
    expect(modelProblem(settings({ NPC_MODEL: 'm', OPENAI_BASE_URL: url }), 'en')).toBeUndefined();
  },
);

test.each(['nonsense', 'ftp://host/v1'])('R-CLI-1: a base URL that is none is named: %s', (url) => {
  expect(() => settings({ OPENAI_BASE_URL: url })).toThrow('OPENAI_BASE_URL');
});

const build = { CNB_TOKEN: 't', CNB_REPO_SLUG: 'team/shop' };
const source = (environment: Record<string, string>) => withPlatform(settings(environment), environment);

test('R-CLI-46: a build without a key uses the platform’s models and says that it spends credits', () => {
  const platform = source(build);
  expect(modelProblem(platform, 'en')).toBeUndefined();
  expect(missingVariables(platform, false)).toBeUndefined();
  expect(modelNames(platform).default).toBe(platform.platform?.models[0]);
  expect(creditsNotice(platform, 'zh-CN')).toContain('AI 额度');
  expect(creditsNotice(platform, 'en')).toContain('AI credits');
});

test.each([
  ['a key', { OPENAI_API_KEY: 'k' }],
  ['another address', { OPENAI_BASE_URL: 'https://model.invalid/v1' }],
  ['a word against it', { NPC_PLATFORM_MODELS: 'off' }],
])('R-CLI-46: %s wins over the platform’s models', (_, given) => {
  const own = source({ ...build, ...given });
  expect(own.platform).toBeUndefined();
  expect(creditsNotice(own, 'en')).toBeUndefined();
});

test('R-CLI-46: a model that a user or a repository names is asked of the platform', () => {
  expect(modelNames(source({ ...build, NPC_MODEL: 'glm' })).default).toBe('glm');
  const file = withRepoModels(source(build), { model: 'kimi' } as RepoConfig);
  expect(modelNames(file).default).toBe('kimi');
});
