import { readConnection } from './connection.ts';
import { type Environment, variablesOf } from './variables.ts';

/** The models that the platform offers to a build, paid for with the AI credits of the repository's organisation. */
export interface PlatformModels {
  /** OpenAI-compatible, streaming only: many models, with tools. */
  readonly baseURL: string;
  /** The documented one: a model of the platform's choice, whatever name is asked for, and no tools. */
  readonly plainBaseURL: string;
  /** The build's `CNB_TOKEN`. */
  readonly token: string;
  /** Names that are asked for, in this order, where a user names none. */
  readonly models: readonly [string, ...string[]];
}

/** Names that users of the platform reported in September 2026; it publishes no list. */
const models = ['deepseek-v4.1-flash', 'glm-5.3-flash', 'kimi-k3-2'] as const;

/** The platform's models as this build reaches them; undefined outside of a build. */
export function platformModels(env: Environment): PlatformModels | undefined {
  const slug = variablesOf(env)('CNB_REPO_SLUG');
  const { apiEndpoint, token } = readConnection(env);
  if (slug === undefined || token === '') return undefined;
  const repository = `${apiEndpoint}/${slug.split('/').map(encodeURIComponent).join('/')}`;
  return { baseURL: `${repository}/-/ai-ide/v2`, plainBaseURL: `${repository}/-/ai`, token, models };
}
