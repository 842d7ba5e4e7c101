import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Environment } from './environment.ts';

/** Another endpoint for models, asked when those before it failed, and the variables that it stands in. */
export interface FallbackSettings {
  readonly baseUrl: string;
  /** Its own; the key of another endpoint is never sent to it. */
  readonly apiKey: string | undefined;
  /** Default: the run's models. */
  readonly model: string | undefined;
  readonly variables: { readonly key: string; readonly url: string; readonly model: string };
}

const MOST_FALLBACKS = 9;
const Url = z.url({ protocol: /^https?$/ });

/**
 * The fallback endpoints in order: NPC_FALLBACK_BASE_URL, NPC_FALLBACK_API_KEY and NPC_FALLBACK_MODEL, then the same with `_2` to
 * `_9`. Throws `AppError('usage')` for an address that is none, and for a key or model without an address.
 */
export function readFallbacks(environment: Environment): readonly FallbackSettings[] {
  const numbers = Array.from({ length: MOST_FALLBACKS }, (_, at) => (at === 0 ? '' : `_${at + 1}`));
  return numbers.flatMap((number) => {
    const variables = {
      url: `NPC_FALLBACK_BASE_URL${number}`,
      key: `NPC_FALLBACK_API_KEY${number}`,
      model: `NPC_FALLBACK_MODEL${number}`,
    };
    const read = (name: string) => environment[name]?.trim() || undefined;
    const [baseUrl, apiKey, model] = [read(variables.url), read(variables.key), read(variables.model)];
    if (baseUrl === undefined) {
      const alone = apiKey === undefined ? model && variables.model : variables.key;
      if (alone) throw new AppError('usage', `wrong setting: ${alone} is set, but ${variables.url} is not`);
      return [];
    }
    const problem = Url.safeParse(baseUrl).error?.issues[0]?.message;
    if (problem !== undefined) throw new AppError('usage', `wrong setting: ${variables.url}: ${problem}`);
    return [{ baseUrl, apiKey, model, variables }];
  });
}

/** The proxies that an environment names by the variables that most programs follow, in capitals or not. */
export function readProxies(environment: Environment) {
  const read = (name: string) => environment[name] || environment[name.toLowerCase()] || undefined;
  const all = read('ALL_PROXY');
  return {
    httpProxy: read('HTTP_PROXY') ?? all,
    httpsProxy: read('HTTPS_PROXY') ?? all,
    noProxy: read('NO_PROXY'),
    followedByNode: environment.NODE_USE_ENV_PROXY === '1',
  };
}
