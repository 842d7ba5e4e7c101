import { expect, test } from 'vitest';
import { ModelSettings, readConfig } from '../config/index.ts';
import { modelProblem } from './model-gateway.ts';

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
