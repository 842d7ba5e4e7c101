import type { ModelChoice } from '../../core/model.ts';
import type { Endpoint } from './endpoint.ts';
import type { UpstreamError } from './errors.ts';
import type { Limiter } from './limiter.ts';
import type { Pacer } from './pacer.ts';

/** One place to send calls to: an endpoint, the names its models have there, and what a message calls its settings. */
export interface Route {
  readonly endpoint: Endpoint;
  /** Shared by all routes of one endpoint, and so is the pacer. */
  readonly limiter: Limiter;
  readonly pacer: Pacer;
  /** May change while a run is set up. */
  models: Readonly<Record<ModelChoice, string>>;
  /** Whether its models are named by the run's own settings. */
  readonly follows: boolean;
  readonly variables: {
    readonly key: string;
    readonly url: string;
    readonly models: Readonly<Record<ModelChoice, string>>;
  };
}

/** How long a route that failed is passed over, in ms. */
export interface CooldownOptions {
  /** After the first failure in a row; doubles with each further one. Default 30 000. */
  readonly cooldownMs: number;
  /** At most, and at once for a rejected key or an empty account. Default 600 000. */
  readonly longestCooldownMs: number;
}

export const defaultCooldown: CooldownOptions = { cooldownMs: 30_000, longestCooldownMs: 600_000 };

/** Remembers which routes failed, so that each call does not try a dead one first. */
export class Cooldowns {
  readonly #options: CooldownOptions;
  readonly #failed = new Map<string, { count: number; until: number }>();
  readonly #numbers = new Map<Endpoint, number>();

  constructor(options: CooldownOptions) {
    this.#options = options;
  }

  /** The routes to try for a choice, in order; those that cool down are left out unless all do. */
  ready(routes: readonly Route[], choice: ModelChoice): readonly Route[] {
    const now = performance.now();
    const cools = (key: string) => (this.#failed.get(key)?.until ?? 0) > now;
    const ready = routes.filter((route) => !this.#keysOf(route, choice).some(cools));
    return ready.length > 0 ? ready : routes;
  }

  failed(route: Route, choice: ModelChoice, error: UpstreamError): void {
    const { cooldownMs, longestCooldownMs } = this.#options;
    const [whole, model] = this.#keysOf(route, choice);
    const key = isOfEndpoint(error) ? whole : model;
    const count = (this.#failed.get(key)?.count ?? 0) + 1;
    const hopeless = error.kind === 'auth' || error.kind === 'quota' || error.kind === 'bad_request';
    const grown = hopeless ? longestCooldownMs : cooldownMs * 2 ** (count - 1);
    const asked = Math.max(grown, error.waitMs ?? 0);
    this.#failed.set(key, { count, until: performance.now() + Math.min(asked, longestCooldownMs) });
  }

  worked(route: Route, choice: ModelChoice): void {
    for (const key of this.#keysOf(route, choice)) this.#failed.delete(key);
  }

  /** What may cool down: the endpoint as a whole, which is one account at one address, and one model there. */
  #keysOf({ endpoint, models }: Route, choice: ModelChoice): [string, string] {
    const number = this.#numbers.get(endpoint) ?? this.#numbers.size;
    this.#numbers.set(endpoint, number);
    return [String(number), `${number} ${models[choice]}`];
  }
}

/** Whether a failure says something about all models of the endpoint. */
function isOfEndpoint({ kind, status }: UpstreamError): boolean {
  return kind === 'auth' || kind === 'quota' || kind === 'not_sse' || (kind === 'server' && status === undefined);
}
