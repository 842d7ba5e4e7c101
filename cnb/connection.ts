import type { NpcIdentity } from './mention.ts';
import { type Environment, variablesOf } from './variables.ts';

/** Where the platform is and how this build logs in. Holds the token: keep it in the run process. */
export interface CnbConnection {
  /** Base of the API, without a slash at the end. */
  readonly apiEndpoint: string;
  /** Base of web addresses, without a slash at the end. */
  readonly webEndpoint: string;
  /** Address git clones from. */
  readonly repositoryUrl: string;
  readonly token: string;
  /** User name that goes with the token in git. */
  readonly user: string;
  /** Who we are on the platform. */
  readonly self: NpcIdentity;
}

/** The connection that a build's variables describe; absent addresses are those of cnb.cool. */
export function readConnection(env: Environment): CnbConnection {
  const read = variablesOf(env);
  const webEndpoint = trimSlash(read('CNB_WEB_ENDPOINT') ?? 'https://cnb.cool');
  const slug = read('CNB_NPC_SLUG');
  return {
    apiEndpoint: trimSlash(read('CNB_API_ENDPOINT') ?? 'https://api.cnb.cool'),
    webEndpoint,
    repositoryUrl: read('CNB_REPO_URL_HTTPS') ?? `${webEndpoint}/${read('CNB_REPO_SLUG') ?? ''}`,
    token: read('CNB_TOKEN') ?? '',
    user: read('CNB_TOKEN_USER_NAME') ?? 'cnb',
    self: { name: read('CNB_NPC_NAME') ?? 'Agent', ...(slug !== undefined && { slug }) },
  };
}

function trimSlash(address: string): string {
  return address.trim().replace(/\/+$/, '');
}
