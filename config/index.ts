export { childEnv } from './child-env.ts';
export { type Environment, environment } from './environment.ts';
export { type FallbackSettings, readFallbacks, readProxies } from './model-routes.ts';
export { readConfig } from './read-config.ts';
export { secretValues } from './secret-values.ts';
export { ModelSettings, PaceSettings, PlaceSettings } from './settings.ts';
