import type { ModelChoice } from '../../core/model.ts';
import type { ModelFacts, ModelPlace } from '../money/model-facts.ts';
import type { Route } from '../upstream/route.ts';

interface ModelChoicesOptions {
  /** In order of preference; the first one counts here. */
  readonly routes: readonly Route[];
  readonly facts: ModelFacts;
  /** What the context of the default model holds, tokens, where the user says it. */
  readonly window: number | undefined;
}

/** The configured models as callers see them: what they may ask for, and what it holds and costs. */
export class ModelChoices {
  readonly #options: ModelChoicesOptions;

  constructor(options: ModelChoicesOptions) {
    this.#options = options;
  }

  /** Tokens that the context of each model holds. */
  windows(): Record<ModelChoice, number> {
    const { routes } = this.#options;
    const [first] = routes;
    const windowOf = (choice: ModelChoice) => (first ? this.#windowOf(this.#place(first, choice)) : 0);
    return {
      default: windowOf('default'),
      flash: windowOf('flash'),
      review: windowOf('review'),
      vision: windowOf('vision'),
    };
  }

  /** What `/v1/models` lists: the choices, and the names that they have at the provider. */
  list(): object[] {
    const [first] = this.#options.routes;
    if (!first) return [];
    const listed = new Map<string, ModelPlace>();
    for (const choice of Object.keys(first.models) as ModelChoice[]) listed.set(choice, this.#place(first, choice));
    for (const place of [...listed.values()]) listed.set(place.model, place);
    return [...listed].map(([id, place]) => this.#entry(id, place));
  }

  #entry(id: string, place: ModelPlace): object {
    const { facts } = this.#options;
    const price = facts.priceOf(place);
    const output = facts.knownOutputOf(place);
    return {
      ...{ id, object: 'model', created: 0, owned_by: 'npc-crew', context_length: this.#windowOf(place) },
      ...(output === undefined ? {} : { max_output_tokens: output }),
      // of a million tokens; null: not known
      pricing: price ?? null,
    };
  }

  #windowOf(place: ModelPlace): number {
    const { routes, facts, window } = this.#options;
    return window !== undefined && place.model === routes[0]?.models.default ? window : facts.windowOf(place);
  }

  #place(route: Route, choice: ModelChoice): ModelPlace {
    return { model: route.models[choice], host: route.endpoint.host };
  }
}
