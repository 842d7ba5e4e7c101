import type { ModelChoice } from '../core/model.ts';
import type { GatewayOptions, ModelNames, UpstreamOptions } from './options.ts';
import { openEndpoint } from './upstream/endpoint.ts';
import { Limiter } from './upstream/limiter.ts';
import { Pacer } from './upstream/pacer.ts';
import type { Route } from './upstream/route.ts';
import { defaultTimeouts } from './upstream/watchdog.ts';

const variables: Route['variables'] = {
  key: 'OPENAI_API_KEY',
  url: 'OPENAI_BASE_URL',
  models: { default: 'NPC_MODEL', flash: 'NPC_FLASH_MODEL', review: 'NPC_REVIEW_MODEL', vision: 'NPC_VISION_MODEL' },
};

/** The upstream, its fallback models, and then the fallback endpoints, in the order in which they are tried. */
export function openRoutes(options: GatewayOptions): [Route, ...Route[]] {
  const main = openPlace(options.upstream, options);
  const own = variablesOf(options.upstream);
  const first: Route = { ...main, models: namesOf(options.models), follows: true, variables: own };
  const sameKey = (options.fallbackModels ?? []).map((model) => ({
    ...main,
    models: namesOf({ default: model }),
    follows: false,
    variables: { ...own, models: namesOf({ default: 'NPC_FALLBACK_MODELS' }) },
  }));
  const others = (options.fallbacks ?? []).map((one) => ({
    ...openPlace(one, { ...options, pace: {} }),
    models: namesOf(one.models ?? options.models),
    follows: one.models === undefined,
    variables: variablesOf(one),
  }));
  return [first, ...sameKey, ...others];
}

/** The name of each choice; one that is not named is the default. */
export function namesOf(names: ModelNames): Record<ModelChoice, string> {
  const { default: main, flash = main, review = main, vision = main } = names;
  return { default: main, flash, review, vision };
}

function openPlace(
  { baseURL, apiKey, onCredits }: UpstreamOptions,
  { timeouts, concurrency = 4, pace, proxies, tape }: GatewayOptions,
): Pick<Route, 'endpoint' | 'limiter' | 'pacer'> {
  return {
    endpoint: openEndpoint({
      baseURL,
      apiKey,
      onCredits,
      timeouts: { ...defaultTimeouts, ...timeouts },
      proxies,
      tape,
    }),
    limiter: new Limiter(concurrency),
    // what is played need not wait
    pacer: new Pacer(tape?.replays ? { requestsPerMinute: Infinity, tokensPerMinute: Infinity } : pace),
  };
}

function variablesOf({ settings }: UpstreamOptions): Route['variables'] {
  if (!settings) return variables;
  return { key: settings.key, url: settings.url, models: namesOf({ default: settings.model }) };
}
