import { expect, test } from 'vitest';
import { readFallbacks, readProxies } from './model-routes.ts';
import { readConfig } from './read-config.ts';
import { secretValues } from './secret-values.ts';
import { ModelSettings } from './settings.ts';

test('R-CLI-45: fallback endpoints come in order, each with its own key and model', () => {
  const environment = {
    OPENAI_API_KEY: 'key-of-the-main',
    NPC_FALLBACK_BASE_URL: 'https://one.example/v1',
    NPC_FALLBACK_API_KEY: 'key-of-one',
    NPC_FALLBACK_MODEL: 'small',
    NPC_FALLBACK_BASE_URL_3: 'http://127.0.0.1:8080/v1',
  };
  expect(readFallbacks(environment)).toMatchObject([
    { baseUrl: 'https://one.example/v1', apiKey: 'key-of-one', model: 'small' },
    { baseUrl: 'http://127.0.0.1:8080/v1', apiKey: undefined, model: undefined },
  ]);
  expect(readFallbacks(environment)[1]?.variables.key).toBe('NPC_FALLBACK_API_KEY_3');
  expect(secretValues({ NPC_FALLBACK_API_KEY_2: 'key-of-two' })).toEqual(['key-of-two']);
  expect(readFallbacks({ NPC_FALLBACK_BASE_URL: '' })).toEqual([]);
});

test.each([
  [{ NPC_FALLBACK_BASE_URL_2: 'one.example' }, 'NPC_FALLBACK_BASE_URL_2'],
  [{ NPC_FALLBACK_API_KEY: 'k' }, 'NPC_FALLBACK_BASE_URL is not'],
  [{ NPC_FALLBACK_MODEL_4: 'm' }, 'NPC_FALLBACK_BASE_URL_4 is not'],
])('R-CLI-45: a fallback that is not whole is named: %j', (environment, message) => {
  expect(() => readFallbacks(environment)).toThrow(message);
});

test('R-CLI-45: proxies are read in both spellings', () => {
  expect(readProxies({ https_proxy: 'http://p:1', NO_PROXY: 'a,b' })).toMatchObject({
    ...{ httpsProxy: 'http://p:1', httpProxy: undefined, noProxy: 'a,b' },
  });
  expect(readProxies({ ALL_PROXY: 'http://p:2', HTTP_PROXY: 'http://p:3' })).toMatchObject({
    ...{ httpsProxy: 'http://p:2', httpProxy: 'http://p:3' },
  });
});

test('R-CLI-45: fallback models are a list of names', () => {
  const read = (NPC_FALLBACK_MODELS: string) => readConfig(ModelSettings, { environment: { NPC_FALLBACK_MODELS } });
  expect(read('a, b/c ,,d').fallbackModels).toEqual(['a', 'b/c', 'd']);
  expect(read('').fallbackModels).toEqual([]);
});
